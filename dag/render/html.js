(function () {
  "use strict";
  var model = JSON.parse(document.getElementById("model").textContent);
  document.getElementById("json").textContent = JSON.stringify(model, null, 2);

  function all(root, selector) { return Array.prototype.slice.call(root.querySelectorAll(selector)); }

  // pick marks one hook of an event, and what it waits for and holds up.
  function pick(section, id) {
    var near = {};
    all(section, ".hk-link").forEach(function (link) {
      var from = link.getAttribute("data-from"), to = link.getAttribute("data-to");
      var on = id !== "" && (from === id || to === id);
      link.classList.toggle("on", on);
      if (on) { near[from] = near[to] = true; }
    });
    all(section, ".hk-node").forEach(function (node) {
      var at = node.getAttribute("data-id");
      node.classList.toggle("on", id !== "" && (at === id || at !== "" && near[at] === true));
    });
    all(section, "tr[data-id]").forEach(function (row) {
      row.classList.toggle("on", id !== "" && row.getAttribute("data-id") === id);
    });
    all(section, "svg").forEach(function (svg) { svg.classList.toggle("picked", id !== ""); });
  }

  all(document, "section[data-event]").forEach(function (section) {
    var picked = "";
    function toggle(id) { picked = picked === id ? "" : id; pick(section, picked); }
    all(section, "tr[data-id]").forEach(function (row) {
      var id = row.getAttribute("data-id");
      row.addEventListener("click", function () { toggle(id); });
      row.addEventListener("keydown", function (e) {
        if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(id); }
      });
    });
    all(section, ".folding").forEach(function (folding) {
      var button = folding.querySelector("button");
      function turn() {
        var open = folding.classList.toggle("open");
        button.setAttribute("aria-expanded", open ? "true" : "false");
        button.textContent = open ? "Fold the rules of a slot" : "Draw each rule";
      }
      button.addEventListener("click", turn);
      all(folding, ".hk-node[data-holds]").forEach(function (node) { node.addEventListener("click", turn); });
    });
    all(section, ".hk-node:not([data-holds])").forEach(function (node) {
      var id = node.getAttribute("data-id");
      if (id !== "") { node.addEventListener("click", function () { toggle(id); }); }
    });
    section.addEventListener("keydown", function (e) { if (e.key === "Escape") { picked = ""; pick(section, ""); } });
  });

  document.getElementById("find").addEventListener("input", function () {
    var want = this.value.toLowerCase();
    all(document, "section[data-event]").forEach(function (section) {
      var shown = {};
      all(section, "tr[data-id]").forEach(function (row) {
        var hit = row.textContent.toLowerCase().indexOf(want) >= 0;
        row.classList.toggle("gone", !hit);
        if (hit) { shown[row.getAttribute("data-id")] = true; }
      });
      all(section, ".hk-node").forEach(function (node) {
        var id = node.getAttribute("data-id");
        var holds = (node.getAttribute("data-holds") || id).split(" ");
        node.classList.toggle("dim", id !== "" && !holds.some(function (one) { return shown[one] === true; }));
      });
    });
  });
})();
