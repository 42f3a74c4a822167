import { z } from 'zod';
import { listReadable } from '../../../core/workspace/run-changes.ts';
import { engineLimits } from '../../../core/limits.ts';
import { splitPages } from '../../text/bytes.ts';
import { listPacketDetails } from '../../artifacts/packet-details.ts';
import { readRecord } from '../../artifacts/record-log.ts';
import { readOutput, readWhole } from '../../artifacts/read-artifact.ts';
import type { ReadContext, ReadingTool } from '../tool.ts';

/** Bytes of a page. About 5,000 tokens: enough to be worth a turn, small against any model's context. */
export const detailPageBytes = 20_000;

/** Maximum number of valid ids that an error lists; the packet's index has them all. */
const listedIdsMax = 50;

export const loadDetailName = 'load_detail';

const LoadDetailInput = z.strictObject({
  detail_id: z
    .string()
    .min(1)
    .max(engineLimits.detailIdCharsMax)
    .describe('From <detail_index>, or of a result in short form.'),
  page: z.number().int().min(1).default(1).describe('From 1.'),
});

/**
 * Tool that returns the whole text behind an entry of the packet's index, page by page (seed 004 §4: details are loaded
 * one by one, never all at once).
 */
export const loadDetail: ReadingTool = {
  spec: {
    name: loadDetailName,
    description:
      'Loads the full text of one earlier result, as Markdown, with the files that were written for it. It loads what ' +
      'one of your blocks lists or has in short form, and nothing else. Long texts come in pages of 20 KB. ' +
      'Example: {"detail_id":"market-research","page":1}',
    input: LoadDetailInput,
  },
  effect: 'read',
  loads: true,
  // Results of others bring their properties along.
  brings: [],
  offeredTo: ['agents', 'planner'],
  listInputs: ({ detail_id }) => [detail_id],
  describeLeftOut: ({ input, bytes }) =>
    `: the detail ${input}, ${bytes} bytes. ${loadDetailName} gives it again.`,
  async run(input, context) {
    const { detail_id, page } = LoadDetailInput.parse(input);
    if (context.loads_left < 1) throw new Error(explainFull());
    const detail = await readDetail(detail_id, context);
    const pages = splitPages(detail.text, detailPageBytes);
    const text = pages[page - 1];
    if (text === undefined) {
      throw new Error(
        `"${detail_id}" has ${pages.length} page(s), and ${page} was asked for. Try: {"detail_id":"${detail_id}","page":${pages.length}}`,
      );
    }
    context.onLoaded(detail.id);
    const next =
      page < pages.length
        ? `\n[Page ${page} of ${pages.length}. The next one: {"detail_id":"${detail_id}","page":${page + 1}}]`
        : `\n[Page ${page} of ${pages.length}: the end of "${detail_id}".]`;
    return text + next;
  },
};

async function readDetail(
  detailId: string,
  context: ReadContext,
): Promise<{ readonly id: string; readonly text: string }> {
  const { store } = context;
  const record = await readRecord(store, context.record_ref);
  const upstream = context.upstream.map((one) => ({
    ...one,
    files: listReadable(one, record, context.delegation_id),
  }));
  const details = await listPacketDetails(store, record, upstream);
  const id = details.has(detailId) ? detailId : findTask(detailId, upstream);
  const source = id === undefined ? undefined : details.get(id);
  if (id === undefined || source === undefined) {
    throw new Error(explainUnknown(detailId, [...details.keys()]));
  }
  if (source.kind === 'wave_compact') return { id, text: source.text };
  const output = await readOutput(store, source.ref);
  return { id, text: await readWhole(store, output, source.files) };
}

/** Finds the id of a task that a leader calls by its name: the last part of the task's id. */
function findTask(name: string, upstream: ReadContext['upstream']): string | undefined {
  return upstream.findLast(({ delegation_id }) => delegation_id.endsWith(`.${name}`))
    ?.delegation_id;
}

function explainFull(): string {
  return (
    `the calls of this reply may load no more: ${engineLimits.loadedDetailsMax} details are the most that one task may load, and those ` +
    'who work on it share them. Try: the call in your next reply, or work with what you have and name what is missing in missing_info_requests.'
  );
}

function explainUnknown(detailId: string, known: readonly string[]): string {
  if (known.length === 0) {
    return `There is no detail "${detailId}": the index is empty. Try: work without details, and ask a question for what is missing.`;
  }
  const listed = known.slice(0, listedIdsMax).map((id) => `"${id}"`);
  const more = known.length > listedIdsMax ? ` and ${known.length - listedIdsMax} more` : '';
  return `There is no detail "${detailId}" in your index. Valid ids: ${listed.join(', ')}${more}. Try: {"detail_id":${listed[0]}}`;
}
