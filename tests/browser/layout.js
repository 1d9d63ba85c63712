// layout lists what is wrong with how a page, or a picture in it, looks.
const layout = () => {
  const out = [], picture = document.documentElement.tagName === "svg", wide = document.documentElement.clientWidth;
  const name = (e) => e.tagName.toLowerCase() + (e.className && e.className.baseVal === undefined ? "." + e.className : "");
  const say = (what, e, text) => { if (out.length < 20) out.push(what + ": " + name(e) + " " + JSON.stringify((text || "").trim().slice(0, 60))); };
  if (!picture && document.scrollingElement && document.scrollingElement.scrollWidth > wide + 1) out.push("the page scrolls sideways: " + document.scrollingElement.scrollWidth + " of " + wide);
  const rgb = (s) => (s.match(/[\d.]+/g) || []).map(Number);
  const lum = (c) => { const f = c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 24, 28] : [255, 255, 255]; };
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
      boxes.push({ r, e, text: n.data });
    }
    for (let p = e; p && p !== document.body; p = p.parentElement) {
      const s = getComputedStyle(p);
      if ((s.overflowX === "hidden" || s.textOverflow === "ellipsis") && p.scrollWidth > p.clientWidth + 1) say("cut", p, n.data);
    }
    if (e.closest("svg")) continue;
    const a = lum(rgb(style.color)), b = lum(ground(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) say("contrast " + ratio.toFixed(2), e, n.data);
  }
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const a = boxes[i], b = boxes[j];
    if (a.e === b.e) continue;
    const w = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), h = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
    if (w > 2 && h > Math.min(a.r.height, b.r.height) / 3) say("overlaps " + JSON.stringify(b.text.trim().slice(0, 40)), a.e, a.text);
  }
  for (const path of document.querySelectorAll("svg path.hk-edge")) {
    const m = path.getScreenCTM(), n = path.getTotalLength();
    for (let at = 0; at <= n; at += 4) {
      const p = path.getPointAtLength(at).matrixTransform(m);
      const hit = boxes.find((b) => b.e.closest("svg") && p.x > b.r.left + 1 && p.x < b.r.right - 1 && p.y > b.r.top + 3 && p.y < b.r.bottom - 3);
      if (hit) { say("an edge through", hit.e, hit.text); break; }
    }
  }
  for (const text of document.querySelectorAll("svg text")) {
    if (!/…\s*$/.test(text.textContent)) continue;
    const box = text.closest("g") && text.closest("g").querySelector("rect"), t = text.getBoundingClientRect();
    if (box && box.getBoundingClientRect().right - t.right > 80) say("cut beside free space", text, text.textContent);
  }
  return out;
};
