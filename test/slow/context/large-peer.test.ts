import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blockBytesMax } from '../../../activities/text/block-limits.ts';
import type { Reply, ReplyFunction } from '../../../rehearsal/script.ts';
import { bodyOf, statusesOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  newestText,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

/** So short that the delegation continues as new while it loads. */
const shortHistories = ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=15'];
const { stage } = useStage({ serverArguments: shortHistories });

/** Refuses a prompt of more than 100,000 tokens, as the API does. */
function within(reply: Reply): ReplyFunction {
  return ({ body }) =>
    JSON.stringify(body).length > 400_000
      ? { status: 400, message: 'prompt is too long: 1250000 tokens > 100000 maximum' }
      : reply;
}

const load = (page: number): Reply => ({
  tool_use: [{ name: 'load_detail', input: { detail_id: 'peer', page } }],
});

it("fault 34: a peer's output of 5 MB comes as a summary and a reference, its details in pages", async () => {
  const line = 'What was found out, in many words. 🐘\n';
  const much = `# Findings\n\n${line.repeat(3_000)}\n# Costs\n\n${line.repeat(130_000)}`;
  const peer = { ...completed('peer-done'), compact_md: much, detailed_md: much };
  const replies = [load(1), load(2), load(999), { json: completed('reader-done') }];
  stage.rehearsal.script([
    plans(1, plan([work('peer'), work('reader', { depends_on: ['peer'] })])),
    works('peer', { json: peer }),
    ...replies.map((reply, at) => works('reader', within(reply), at + 1)),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Read what a peer wrote' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });

  const record = await storedRecord(stage.home, run.workflowId);
  const [wrote, read] = record.waves[0]?.outcomes ?? [];
  // The fault fired: the whole output is stored, and is what the reader depends on.
  expect((await storedText(stage.home, wrote?.output_ref ?? '')).length).toBeGreaterThan(9_000_000);

  const calls = callsOf(stage.rehearsal, 'reader');
  expect(statusesOf(calls)).toEqual([200, 200, 200, 200]);
  const packet = newestText(calls[0]);
  expect(packet).toContain('# Findings');
  expect(packet).toMatch(
    /\[Left out: the rest of "Findings", "Costs"\. \d+ of \d{7} bytes are shown\. All of it: load_detail \{"detail_id":"peer"\}\.\]/,
  );
  expect(packet).toContain(`short form of ${Buffer.byteLength(much)} bytes`);
  const results = calls.slice(1).map((call) => JSON.stringify(bodyOf(call).messages.at(-1)));
  expect(results[0]).toContain('Page 1 of ');
  expect(results[1]).toContain('Page 2 of ');
  expect(results[2]).toContain('and 999 was asked for');
  for (const call of stage.rehearsal.calls()) {
    // A decision sees more of the work than others do.
    const most = call.shape === 'decision' ? 100_000 + blockBytesMax.work : 100_000;
    expect(JSON.stringify(bodyOf(call)).length).toBeLessThan(most);
  }

  expect([wrote?.loaded_details, read?.loaded_details]).toEqual([[], ['peer']]);
  const summary = join(
    stage.home,
    result.result_path,
    '../conversation_summary_read_what_a_peer_wrote.md',
  );
  expect(readFileSync(summary, 'utf8')).toContain('- reader loaded peer');
  const histories = await expectPromisesKept(stage, run.workflowId);
  const ofReader = histories.filter(({ workflowId }) => workflowId.endsWith('/reader'));
  expect(ofReader.length).toBeGreaterThan(1);
  // The model's server, the worker and this test read ten megabytes several times, all on the same machine.
});
