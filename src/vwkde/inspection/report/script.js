"use strict";
const tools = document.querySelector(".tools");
if (tools) {
  const cards = [...document.querySelectorAll("article")];
  const choose = () => {
    const kind = tools.kind.value;
    const text = tools.text.value.toLowerCase();
    let shown = 0;
    for (const card of cards) {
      const fits = !kind || (kind === "wrong" ? "wrong" in card.dataset : card.dataset.kind === kind);
      card.hidden = !(fits && card.dataset.name.includes(text));
      shown += !card.hidden;
    }
    tools.querySelector("output").textContent = `${shown} of ${cards.length}`;
  };
  tools.addEventListener("input", choose);
  tools.addEventListener("submit", (event) => event.preventDefault());
  tools.hidden = false;
  choose();
}
