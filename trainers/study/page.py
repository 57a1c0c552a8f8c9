"""The page of the human study: one word at a time, two regions, three answers."""

HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Which region fits the word?</title>
<style>
body { font: 17px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 60rem; }
#frame { position: relative; display: inline-block; max-width: 100%; }
#frame img { display: block; max-width: 100%; max-height: 62vh; }
.box { position: absolute; border: 4px solid; box-sizing: border-box; }
.box span { position: absolute; top: 0; left: 0; color: white; padding: 0 .4em; font-weight: bold; }
#a { border-color: #d62728; } #a span { background: #d62728; }
#b { border-color: #1f77b4; } #b span { background: #1f77b4; left: auto; right: 0; }
button { font: inherit; padding: .5rem 1.2rem; margin: .8rem .6rem 0 0; cursor: pointer; }
mark { background: #ffe58a; padding: 0 .2em; } #left { color: #666; }
</style></head><body>
<h1>Which region fits the word better?</h1>
<p id="sentence" aria-live="polite"></p>
<div id="frame" hidden><img id="picture" alt=""><div class="box" id="a"><span>A</span></div>
<div class="box" id="b"><span>B</span></div></div>
<p id="buttons" hidden><button data-answer="A">A is better (1)</button><button data-answer="equal">
About the same (2)</button><button data-answer="B">B is better (3)</button></p>
<p id="left"></p>
<script>
const rater = Number(new URLSearchParams(location.search).get("rater"));
let items = [];
const at = (id) => document.getElementById(id);
function place(box, [x1, y1, x2, y2]) {
  Object.assign(box.style, {left: 100 * x1 + "%", top: 100 * y1 + "%",
    width: 100 * (x2 - x1) + "%", height: 100 * (y2 - y1) + "%"});
}
function show() {
  const done = !items.length;
  at("frame").hidden = at("buttons").hidden = done;
  at("left").textContent = done ? "" : items.length + " words left";
  if (done) { at("sentence").textContent = "Thank you. All words are judged."; return; }
  const item = items[0], words = item.sentence.length ? item.sentence : [item.word];
  const marked = item.sentence.length ? item.index : 0;
  at("sentence").replaceChildren(...words.flatMap((word, n) => {
    const part = document.createElement(n === marked ? "mark" : "span");
    part.textContent = word;
    return [part, " "];
  }));
  at("picture").src = "pictures/" + encodeURIComponent(item.image_id);
  at("picture").alt = "Photograph with regions A and B for the word " + item.word;
  place(at("a"), item.a);
  place(at("b"), item.b);
}
async function answer(choice) {
  const body = JSON.stringify({item: items[0].key, rater, answer: choice});
  const reply = await fetch("answers", {method: "POST", body});
  if (!reply.ok) { at("left").textContent = await reply.text(); return; }
  items.shift();
  show();
}
document.querySelectorAll("button").forEach((b) => b.onclick = () => answer(b.dataset.answer));
document.onkeydown = (event) => {
  const choice = {1: "A", 2: "equal", 3: "B"}[event.key];
  if (choice && items.length) answer(choice);
};
fetch("items?rater=" + rater).then(async (reply) => {
  if (!reply.ok) { at("sentence").textContent = await reply.text(); return; }
  items = await reply.json();
  show();
});
</script></body></html>
"""
