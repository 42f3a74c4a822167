import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { gives, leads, loneTeam, teamInput } from '../../support/scripted-team.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

it('what members brought is handed on, shown and exported when their leader gives no valid answer', async () => {
  const invalid = { json: { compact_md: 'No shape.' } };
  stage.rehearsal.script(leads([[gives('researcher')], invalid, invalid, invalid]));
  const run = await stage.start('team', teamInput(['researcher', 'writer']));
  const result: LoneOutcome = await run.result();
  expect(result).toMatchObject({
    status: 'failed',
    executor: { work: { partial: true, tasks: { completed: 1, failed: 0 } } },
  });
  expect(result.answer).toContain(`## \`${loneTeam}.d1\``);
  const { home } = stage;
  const fileOf = (path: string): Promise<string> =>
    readFile(join(home, run.workflowId, path), 'utf8');
  const team = await fileOf(`teams/${loneTeam}.md`);
  expect(team).toContain('The leader gave none. What its members brought stands below.');
  const told = await fileOf('report.md');
  expect(told).toContain('Partial: it may hold less than was asked for');
  expect(told).toContain(`- \`${loneTeam}.d1\` by researcher: `);
  await rm(join(home, run.workflowId), { recursive: true });
  const exported = {
    store: createFileArtifactStore({ home }),
    index: createFileRunIndex({ home }),
    projection: createFileProjection({ home }),
  };
  await exportRun(exported, run.workflowId);
  expect([await fileOf(`teams/${loneTeam}.md`), await fileOf('report.md')]).toEqual([team, told]);
  await expectPromisesKept(stage, run.workflowId);
});
