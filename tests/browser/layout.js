// layout lists what is wrong with how a page, or a picture in it, looks.
var layout = () => {
  const out = [], picture = document.documentElement.tagName === "svg", wide = document.documentElement.clientWidth;
  const name = (e) => e.tagName.toLowerCase() + (e.className && e.className.baseVal === undefined ? "." + e.className : "");
  const say = (what, e, text) => { if (out.length < 20) out.push(what + ": " + name(e) + " " + JSON.stringify((text || "").trim().slice(0, 60))); };
  if (!picture && document.scrollingElement && document.scrollingElement.scrollWidth > wide + 1) out.push("the page scrolls sideways: " + document.scrollingElement.scrollWidth + " of " + wide);
  const rgb = (s) => (s.match(/[\d.]+/g) || []).map(Number);
  const lum = (c) => { const f = c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const ground = (e) => {
    const node = e.closest("g.hk-node") && e.closest("g.hk-node").querySelector("rect") || e.closest("svg") && document.querySelector("rect.hk-page");
    if (node) return rgb(getComputedStyle(node).fill);
    for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 24, 28] : [255, 255, 255];
  };
  const boxes = [];
  const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) || e.closest(".hidden,.skip,title,style,script,option,select,desc")) continue;
    const range = document.createRange();
    range.selectNodeContents(n);
    const inner = e.closest(".scroll,figure"), style = getComputedStyle(e);
    for (const r of range.getClientRects()) {
      if (r.width < 1 || r.height < 1) continue;
      if (!inner && !picture && (r.right > wide + 1 || r.left < -1)) say("beyond the edge", e, n.data);
      boxes.push({ r, e, svg: e.closest("svg"), text: n.data });
    }
    for (let p = e; p && p !== document.body; p = p.parentElement) {
      const s = getComputedStyle(p);
      if ((s.overflowX === "hidden" || s.textOverflow === "ellipsis") && p.scrollWidth > p.clientWidth + 1) say("cut", p, n.data);
    }
    const a = lum(rgb(e.closest("svg") ? style.fill : style.color)), b = lum(ground(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) say("contrast " + ratio.toFixed(2), e, n.data);
  }
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const a = boxes[i], b = boxes[j];
    if (a.e === b.e) continue;
    const w = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), h = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
    if (w > 2 && h > Math.min(a.r.height, b.r.height) / 3) say("overlaps " + JSON.stringify(b.text.trim().slice(0, 40)), a.e, a.text);
  }
  const nodes = [...document.querySelectorAll("svg g.hk-node")].filter((g) => g.checkVisibility()).map((g) => ({ g, svg: g.closest("svg"), r: g.querySelector("rect").getBoundingClientRect() }));
  const pages = new Map([...document.querySelectorAll("svg")].map((svg) => [svg, svg.getBoundingClientRect()]));
  const inside = (t, r) => t.left >= r.left - 1 && t.right <= r.right + 1 && t.top >= r.top - 1 && t.bottom <= r.bottom + 1;
  for (const b of boxes) {
    const svg = b.e.closest("svg"), node = b.e.closest("g.hk-node"), frame = b.e.previousElementSibling;
    if (!svg) continue;
    if (!inside(b.r, pages.get(svg))) say("beyond the picture", b.e, b.text);
    if (node && !inside(b.r, nodes.find((n) => n.g === node).r)) say("beyond its box", b.e, b.text);
    if (frame && frame.matches("rect.hk-frame[height]") && frame.getBoundingClientRect().height > 12 && !inside(b.r, frame.getBoundingClientRect())) say("beyond its frame", b.e, b.text);
  }
  for (let i = 0; i < nodes.length; i++) for (let j = i + 1; j < nodes.length; j++) {
    const a = nodes[i].r, b = nodes[j].r;
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) say("a box over a box", nodes[i].g, nodes[i].g.textContent);
  }
  for (const path of document.querySelectorAll("svg path.hk-edge")) {
    if (!path.checkVisibility()) continue;
    const m = path.getScreenCTM(), svg = path.closest("svg"), n = path.getTotalLength();
    for (let at = 0; at <= n; at += 4) {
      const p = path.getPointAtLength(at).matrixTransform(m);
      const hit = boxes.find((b) => b.svg === svg && p.x > b.r.left + 1 && p.x < b.r.right - 1 && p.y > b.r.top + 3 && p.y < b.r.bottom - 3);
      if (hit) { say("an edge through", hit.e, hit.text); break; }
      const box = nodes.find(({ r, svg: at }) => at === svg && p.x > r.left + 2 && p.x < r.right - 2 && p.y > r.top + 2 && p.y < r.bottom - 2);
      if (box) { say("an edge over a box", box.g, box.g.textContent); break; }
    }
  }
  for (const text of document.querySelectorAll("svg text")) {
    if (!/…\s*$/.test(text.textContent)) continue;
    const box = text.closest("g") && text.closest("g").querySelector("rect"), t = text.getBoundingClientRect();
    if (box && box.getBoundingClientRect().right - t.right > 80) say("cut beside free space", text, text.textContent);
  }
  return out;
};
