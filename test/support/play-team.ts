import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TeamResult } from '../../contracts/delegation-run.ts';
import type { TeamReport } from '../../contracts/team-run.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { toRunDirectory } from '../../activities/projection/run-directory.ts';
import type { RecordedCall, ScriptRule } from '../../rehearsal/script.ts';
import { expectPromisesKept } from './promises.ts';
import { heardResults, leaderCalls, loneTeam } from './scripted-team.ts';
import type { HeardResult } from './scripted-team.ts';
import type { Stage } from './stage.ts';
import { storedText } from './stored-record.ts';

/** A team that was started alone and has ended. */
export interface PlayedTeam {
  readonly runId: string;
  readonly result: TeamResult;
  /** How its work ended, as the store has it. */
  readonly report: TeamReport;
  /** What its delegation handed on, as the text of the artifact; empty when it was nothing. */
  readonly output: string;
  /** Its file in the run's tree. */
  readonly page: string;
  /** What the leader was told before its nth call, from 1, in the order of its calls. */
  readonly heard: (nth: number) => HeardResult[];
  /** All model calls, also when another test has begun. */
  readonly calls: () => readonly RecordedCall[];
  readonly maxInFlight: number;
}

/** Plays a team by these rules, and expects the promises kept. Calls before it are forgotten. */
export async function playTeam(
  stage: Stage,
  rules: readonly ScriptRule[],
  input: TeamInput,
): Promise<PlayedTeam> {
  stage.rehearsal.reset();
  stage.rehearsal.script(rules);
  const run = await stage.start('team', input);
  const result: TeamResult = await run.result();
  await expectPromisesKept(stage, run.workflowId);
  const calls = stage.rehearsal.calls();
  const leaders = leaderCalls(stage.rehearsal);
  return {
    runId: run.workflowId,
    result,
    ...(await readTeam(stage, run.workflowId, result)),
    heard: (nth) => heardResults(leaders[nth - 1]),
    calls: () => calls,
    maxInFlight: stage.rehearsal.counts().maxInFlight,
  };
}

/** What a team has left in the home. @throws when it never began. */
export async function readTeam(
  { home }: Pick<Stage, 'home'>,
  runId: string,
  { delegation_id, team, output_ref }: Pick<TeamResult, 'delegation_id' | 'team' | 'output_ref'>,
): Promise<Pick<PlayedTeam, 'report' | 'output' | 'page'>> {
  if (team === undefined) throw new Error(`${delegation_id} was done by no team.`);
  const report: TeamReport = JSON.parse(await storedText(home, team.report_ref));
  const output = output_ref === null ? '' : await storedText(home, output_ref);
  return { report, output, page: readPage(home, runId, delegation_id) };
}

function readPage(home: string, runId: string, delegationId: string): string {
  return readFileSync(join(home, toRunDirectory(runId), 'teams', `${delegationId}.md`), 'utf8');
}

/** The status of each task of a team that was started alone, by the name that its leader gave it. */
export function statusesOf({ tasks }: Pick<TeamReport, 'tasks'>): Record<string, string> {
  return Object.fromEntries(
    tasks.map(({ delegation_id, status }) => [delegation_id.slice(loneTeam.length + 1), status]),
  );
}
