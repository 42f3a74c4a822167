import { serveView } from '../../../client/view/serve-view.ts';
import { samplePage } from '../../support/sample-page.ts';
import { openWebPage } from '../../support/web-page.ts';
import type { WebPage } from '../../support/web-page.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';

const delegations = 600;
const msMax = 2_000;
const rounds = 7;

export const viewPage: Figure = {
  name: 'view-page',
  about: 'page of a run with 600 delegations, until Chromium has drawn it',
  async measure({ sizeOf, say }) {
    const many = sizeOf(delegations);
    const few = Math.ceil(many / 10);
    const web = await openWebPage({ width: 1280, height: 900 });
    try {
      const whole: number[] = [];
      const tenth: number[] = [];
      for (let round = 1; round <= sizeOf(rounds); round += 1) {
        // One after the other: they would measure each other.
        // oxlint-disable-next-line no-await-in-loop
        whole.push(await measureLoad(web, many));
        // oxlint-disable-next-line no-await-in-loop
        tenth.push(await measureLoad(web, few));
        say(`round ${round}: ${formatNumber(whole.at(-1) ?? 0)} ms`);
      }
      return [toRow({ many, few }, whole, tenth)];
    } finally {
      await web.close();
    }
  },
};

/** Milliseconds from the request for a page that nothing was kept of to its second frame. */
async function measureLoad({ page }: WebPage, count: number): Promise<number> {
  const run = samplePage(count);
  const served = await serveView(
    {
      listRuns: () => Promise.resolve([]),
      readPage: () => Promise.resolve(run),
      readVersion: () => Promise.resolve('1'),
      answer: () => Promise.reject(new Error('Nothing is answered here.')),
    },
    { port: 0, token: 'key', runId: run.run_id },
  );
  try {
    const startedAt = performance.now();
    await page.goto(served.url, { waitUntil: 'load' });
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );
    const ms = performance.now() - startedAt;
    const shown = await page.locator('#work .unit').count();
    if (shown < count) throw new Error(`The page shows ${shown} of ${count} delegations.`);
    return ms;
  } finally {
    // A page that is left open would go on asking for its server.
    await page.goto('about:blank');
    await served.close();
  }
}

function toRow(
  { many, few }: { readonly many: number; readonly few: number },
  whole: readonly number[],
  tenth: readonly number[],
): FigureRow {
  const [ms, small] = [summarise(whole), summarise(tenth)];
  return {
    figure: `the page of a run with ${many} delegations, from its request until Chromium has drawn it`,
    target: `≤ ${formatNumber(msMax)} ms`,
    measured: `${formatSummary(ms, 'ms')}: ${formatNumber(ms.median / small.median)} × that of ${few} delegations`,
    floor: '',
    reached: ms.median <= msMax,
    notes: 'The server renders the page anew. Each delegation has two turns with their prompts.',
    numbers: { ms, small_ms: small },
  };
}
