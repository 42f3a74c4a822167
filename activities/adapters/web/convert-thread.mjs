// Converts one page to Markdown. Plain JavaScript, because a thread loads no TypeScript.
import { parentPort, workerData } from 'node:worker_threads';
import TurndownService from 'turndown';

const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
service.remove([
  'script',
  'style',
  'noscript',
  'iframe',
  'object',
  'template',
  'head',
  'title',
  'svg',
  'form',
]);
// A picture would load from elsewhere wherever the text is shown.
service.addRule('picture', {
  filter: 'img',
  replacement: (_content, node) => node.getAttribute('alt') ?? '',
});

const html = String(workerData);
const start = html.toLowerCase().indexOf('<title');
const open = start < 0 ? -1 : html.indexOf('>', start);
const end = open < 0 ? -1 : html.indexOf('<', open);
const title =
  end < 0
    ? ''
    : html
        .slice(open + 1, end)
        .trim()
        .slice(0, 300);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage({ title, text_md: service.turndown(html) });
