// The page works without this. With it the newest decisions come by themselves.
"use strict";
(() => {
  const part = document.getElementById("live");
  if (!part || part.dataset.live !== "true") return;
  const box = document.createElement("p");
  box.innerHTML = '<label class="switch"><input type="checkbox" id="follow" checked> live</label> <span role="status"></span>';
  part.before(box);
  const follow = box.querySelector("input"), status = box.querySelector("span");
  let tag = "";
  const look = async () => {
    if (!follow.checked || document.hidden) return;
    try {
      const answer = await fetch(location.href, tag ? { headers: { "If-None-Match": tag } } : {});
      if (answer.status === 304) return;
      if (!answer.ok) throw new Error(String(answer.status));
      tag = answer.headers.get("ETag") || "";
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      if (!next) return;
      const at = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
      part.replaceChildren(...next.childNodes);
      if (at) for (const a of part.querySelectorAll("a")) if (a.getAttribute("href") === at) { a.focus(); break; }
      status.textContent = "";
    } catch (e) {
      status.textContent = "hookc ui does not answer";
    }
  };
  setInterval(look, 2000);
})();
