import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { LoneOutcome } from '../../contracts/delegation-run.ts';
import type { TeamReport } from '../../contracts/team-run.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { toRunDirectory } from '../../activities/projection/paths.ts';
import type { RecordedCall, ScriptRule } from '../../rehearsal/script.ts';
import { callsOfRun } from './process-stage.ts';
import { expectPromisesKept } from './promises.ts';
import { heardResults, leaderCalls, loneTeam } from './scripted-team.ts';
import type { HeardResult } from './scripted-team.ts';
import type { Stage } from './stage.ts';
import { storedText } from './stored-record.ts';

/** Team that was started alone and has ended. */
export interface PlayedTeam {
  readonly runId: string;
  readonly result: LoneOutcome;
  /** Stored report of its work. */
  readonly report: TeamReport;
  /** Output of its delegation, as the text of the artifact; empty when there is none. */
  readonly output: string;
  /** Its file in the run's tree. */
  readonly page: string;
  /** Returns the results in the leader's nth call, from 1, in the order of its calls. */
  readonly heard: (nth: number) => HeardResult[];
  /** Returns all model calls, also when another test has begun. */
  readonly calls: () => readonly RecordedCall[];
  /** Maximum of everything that was played at the same time. */
  readonly maxInFlight: number;
}

/** Plays a team by these rules and checks the promises. Calls before it are forgotten. */
export async function playTeam(
  stage: Stage,
  rules: readonly ScriptRule[],
  input: TeamInput,
): Promise<PlayedTeam> {
  stage.rehearsal.reset();
  stage.rehearsal.script(rules);
  return untilEnd(stage, await stage.start('team', input));
}

/** Plays teams that mostly wait at the same time, each by its own rules, which name no call key. */
export async function playSideBySide(
  stage: Stage,
  teams: readonly { readonly rules: readonly ScriptRule[]; readonly input: TeamInput }[],
): Promise<readonly PlayedTeam[]> {
  const ids = teams.map(() => `team-${randomUUID().slice(0, 8)}`);
  stage.rehearsal.reset();
  stage.rehearsal.script(
    teams.flatMap(({ rules }, at) =>
      rules.map(({ match, ...rule }) => ({
        ...rule,
        match: { ...match, callKeyIncludes: `${ids[at]}/` },
      })),
    ),
  );
  const runs = await Promise.all(teams.map(({ input }, at) => stage.start('team', input, ids[at])));
  // Artifacts of a team are unnamed while its call is in flight.
  await Promise.all(runs.map((run) => run.result()));
  return Promise.all(runs.map((run) => untilEnd(stage, run)));
}

async function untilEnd(stage: Stage, run: WorkflowHandle): Promise<PlayedTeam> {
  const { workflowId } = run;
  const result: LoneOutcome = await run.result();
  await expectPromisesKept(stage, workflowId);
  const calls = callsOfRun(stage, workflowId);
  const leaders = leaderCalls({ calls: () => calls });
  return {
    runId: workflowId,
    result,
    ...(await readTeam(stage, workflowId, result)),
    heard: (nth) => heardResults(leaders[nth - 1]),
    calls: () => calls,
    maxInFlight: stage.rehearsal.counts().maxInFlight,
  };
}

/** Reads what a team has left in the home. @throws when it never began. */
export async function readTeam(
  { home }: Pick<Stage, 'home'>,
  runId: string,
  { delegation_id, team, output_ref }: Pick<LoneOutcome, 'delegation_id' | 'team' | 'output_ref'>,
): Promise<Pick<PlayedTeam, 'report' | 'output' | 'page'>> {
  if (team === undefined) throw new Error(`${delegation_id} was done by no team.`);
  const report: TeamReport = JSON.parse(await storedText(home, team.report_ref));
  const output = output_ref === null ? '' : await storedText(home, output_ref);
  return { report, output, page: readPage(home, runId, delegation_id) };
}

function readPage(home: string, runId: string, delegationId: string): string {
  return readFileSync(join(home, toRunDirectory(runId), 'teams', `${delegationId}.md`), 'utf8');
}

/** Returns the status of each task of a team that was started alone, by the name that its leader gave it. */
export function statusesOf({ tasks }: Pick<TeamReport, 'tasks'>): Record<string, string> {
  return Object.fromEntries(
    tasks.map(({ delegation_id, status }) => [delegation_id.slice(loneTeam.length + 1), status]),
  );
}
