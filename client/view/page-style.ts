import { createHash } from 'node:crypto';

/** Looks of the page. Colours have a contrast of at least 4.5 in light and in dark. */
export const style = `
:root{color-scheme:light dark;--ground:#fff;--raised:#f6f8fa;--line:#d0d7de;--text:#1f2328;--quiet:#59636e;--link:#0757ba;--good:#1a7f37;--bad:#c21f2c;--work:#8a5a00;--planner:#6639ba;--user:#0757ba;--add:#dafbe1;--cut:#ffebe9}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--raised:#161b22;--line:#3d444d;--text:#e6edf3;--quiet:#9aa4af;--link:#6cb0ff;--good:#3fb950;--bad:#ff7b72;--work:#d9a21b;--planner:#c297ff;--user:#6cb0ff;--add:#12381f;--cut:#4a1a1d}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 .5rem}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
h3,h4,h5,h6{font-size:1rem;line-height:1.4;margin:1rem 0 .3rem}
summary h3,summary h4,summary h5{display:inline;margin:0}
p,ul,blockquote,table,pre{margin:.5rem 0}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,button:focus-visible,input:focus-visible,textarea:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.5rem}
.quiet{color:var(--quiet)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0}
code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--raised);padding:.1em .3em;border-radius:4px}
pre{background:var(--raised);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;white-space:pre-wrap;max-height:32rem;overflow:auto;unicode-bidi:plaintext}
pre code{padding:0}
.ins,.del{display:block}.ins{background:var(--add)}.del{background:var(--cut)}
blockquote{border-left:4px solid var(--line);padding-left:1rem;margin-left:0}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.94rem}
th,td{overflow-wrap:break-word;text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid var(--line)}
th{color:var(--quiet);font-weight:600}
.when{white-space:nowrap}.lines{white-space:pre-wrap;max-height:20rem;overflow:auto}
.num{text-align:right;white-space:nowrap}
.wide .text{min-width:14rem;overflow-wrap:anywhere}
ul.criteria{list-style:none;padding:0}ul.criteria li{padding:.5rem 0;border-bottom:1px solid var(--line)}ul.criteria p{margin:.2rem 0 0}
ul.numbered{list-style:none;padding-left:.5rem}
li.in1{margin-left:1.2rem}li.in2{margin-left:2.4rem}li.in3{margin-left:3.6rem}
.badge{display:inline-block;font-size:.8rem;font-weight:600;line-height:1.4;padding:.05rem .5rem;border:1px solid currentColor;border-radius:1rem;white-space:nowrap}
.badge.good{color:var(--good)}.badge.bad{color:var(--bad)}.badge.work{color:var(--work)}
dl.facts{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;margin:.6rem 0}
dl.facts div{display:flex;gap:.4rem}
dt{color:var(--quiet);white-space:nowrap}dd{margin:0}
.answer{border:1px solid var(--line);border-radius:8px;padding:.4rem 1.1rem;background:var(--raised)}
.answer pre,.answer code{background:var(--ground)}
details{border-left:2px solid var(--line);padding-left:.8rem;margin:.4rem 0}
details>summary{cursor:pointer;padding:.15rem 0}
details[open]>summary{margin-bottom:.3rem}
.lazy .unit{content-visibility:auto;contain-intrinsic-size:auto 3.6rem}
.unit>details{border:1px solid var(--line);border-radius:8px;padding:.35rem .8rem}
.question{border:2px solid var(--work);border-radius:8px;padding:.2rem 1rem 1rem;margin:1rem 0}
.notice{border-left:4px solid var(--work);padding:.4rem .8rem;background:var(--raised)}
fieldset{border:1px solid var(--line);border-radius:6px;margin:.6rem 0}
label{display:block;padding:.15rem 0}
textarea,input[type=text]{width:100%;font:inherit;color:inherit;background:var(--ground);border:1px solid var(--quiet);border-radius:6px;padding:.4rem .6rem}
textarea{min-height:5rem}
button{font:inherit;font-weight:600;color:var(--ground);background:var(--link);border:1px solid var(--link);border-radius:6px;padding:.4rem 1rem;margin:.3rem .5rem 0 0;cursor:pointer}
button.second{color:var(--link);background:var(--ground)}
.scroll>table{margin:0}section section+section{margin-top:1.6rem}
.scroll{overflow:auto;margin:.6rem 0;max-height:34rem;border:1px solid var(--line);border-radius:8px}
.timeline{display:block;font:12px system-ui,sans-serif}
.timeline text{fill:var(--text)}.timeline .small{fill:var(--quiet);font-size:11px}
.timeline .level0{font-weight:600}.timeline .level2,.timeline .level3{fill:var(--quiet)}
.timeline .axis{stroke:var(--line)}.timeline .pause{fill:var(--raised)}
.timeline .ground{opacity:.22}.timeline .good{fill:var(--good)}.timeline .bad{fill:var(--bad)}.timeline .work{fill:var(--work)}.timeline .planner{fill:var(--planner)}.timeline .user{fill:var(--user)}
.timeline .arrow{fill:none;stroke:var(--quiet);stroke-opacity:.55}
.timeline a:hover .label{text-decoration:underline}
footer{padding:2.5rem 1rem 3rem;color:var(--quiet);font-size:.9rem}
@media (max-width:40rem){h1{font-size:1.3rem}.wide .text{min-width:11rem}.answer{padding:.2rem .8rem}details{padding-left:.5rem}dl.facts{gap:.2rem 1rem}dl.facts div{display:block}dt,dd{display:inline}dt::after{content:' '}}
@media print{.scroll,pre{max-height:none;overflow:visible}nav,.skip{display:none}}
`;

/**
 * Keeps an open page up to date: asks for the page again when the server says that it has changed, and changes only what
 * differs, so that what is open, typed and focused stays.
 */
export const script = `
(() => {
  const keyed = (node) => (node.nodeType === 1 && node.id ? node.nodeName + '#' + node.id : '');
  const isLike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyed(a) === keyed(b);
  const sync = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== 1) { old.data = fresh.data; return; }
    for (const { name } of [...old.attributes]) if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    // What is gone is removed first: else the nodes after it would be moved, and a moved node loses the keyboard's focus.
    const wanted = new Set([...fresh.children].map(keyed));
    for (const node of [...old.children]) if (keyed(node) && !wanted.has(keyed(node))) node.remove();
    let at = old.firstChild;
    const known = new Map([...old.children].filter(keyed).map((node) => [keyed(node), node]));
    for (const next of [...fresh.childNodes]) {
      const same = keyed(next) ? known.get(keyed(next)) : at && isLike(at, next) ? at : undefined;
      if (same === undefined) { old.insertBefore(next, at); continue; }
      if (same === at) at = at.nextSibling; else old.insertBefore(same, at);
      sync(same, next);
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  };
  const status = document.getElementById('live');
  let isBusy = false;
  let isDue = false;
  const update = async () => {
    if (isBusy) { isDue = true; return; }
    isBusy = true;
    try {
      const text = await (await fetch(location.href.split('#')[0])).text();
      const fresh = new DOMParser().parseFromString(text, 'text/html');
      document.title = fresh.title;
      for (const part of ['header', 'main']) {
        const old = document.querySelector(part);
        const next = fresh.querySelector(part);
        if (old && next) sync(old, next);
      }
      status.textContent = 'Updated ' + new Date().toLocaleTimeString();
    } catch { status.textContent = 'The page could not be updated.'; }
    isBusy = false;
    if (isDue) { isDue = false; update(); }
  };
  const events = new EventSource(status.dataset.events);
  events.addEventListener('changed', update);
  events.onerror = () => { status.textContent = 'Not connected: planwave view has ended, or the page is out of date.'; };
  events.onopen = () => { status.textContent = 'Live'; };
})();
`;

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const styleHash = hashOf(style);
const scriptHash = hashOf(script);

/** Returns what the page may load: nothing of others, and from its own server only when it is `live`. */
export function contentPolicy(isLive: boolean): string {
  return [
    "default-src 'none'",
    `style-src ${styleHash}`,
    "base-uri 'none'",
    ...(isLive
      ? [`script-src ${scriptHash}`, "connect-src 'self'", "form-action 'self'"]
      : ["form-action 'none'"]),
  ].join('; ');
}
