import type { CampaignResult, PhaseResult } from './campaign.ts';
import { programsTitle } from './programs/run-programs.ts';
import type { ProgramsResult } from './programs/run-programs.ts';
import { teamTask } from './runs/with-team.ts';
import { triadTask } from './runs/with-triad.ts';
import { judgeCampaign } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** Settings and versions of a campaign. */
export interface Surroundings {
  /** Such as `2026-11-22`. */
  readonly date: string;
  /** `Node 20.20.2`, … */
  readonly versions: readonly string[];
  /** The command that makes the same choices again. */
  readonly repeat: string;
}

/** The result in a few lines, for the terminal. */
export function renderSummary(result: CampaignResult, verdict: Verdict): string {
  return [
    ...verdict.faults.map((fault) => `FAULT ${fault}`),
    `seed ${result.seed}, ${verdict.runs} runs in ${Math.round(result.seconds)} s`,
    ...countLines(verdict).map(([what, count]) => `${what}: ${count}`),
    ...result.phases.map((phase) => `${phase.name}: ${describeHarm(phase) || 'nothing was done'}`),
    ...verdict.recoveries.map(
      ({ what, all, overLimit, limitMs, slowest }) =>
        `seconds to recover, ${what}: median ${seconds(all.median)}, p95 ${seconds(all.p95)}, ` +
        `max ${seconds(all.max)} (${slowest}), ${overLimit} of ${all.count} over ${seconds(limitMs)}`,
    ),
  ].join('\n');
}

/** Renders docs/campaign-fixed-runs.md. */
export function renderPage(
  result: CampaignResult,
  verdict: Verdict,
  { date, versions, repeat }: Surroundings,
): string {
  return `# Fault campaign over fixed runs

\`npm run chaos\` kills and pauses real processes (a Temporal server, workers, a model server over HTTP) at every step of a run,
restarts them, and compares each run with an undisturbed one. It writes this page. The undisturbed run has two questions and four
delegations; one needs another's output, and a triad of three peers does one in three phases: ${result.events}
history events and ${result.calls} model calls.

A model of the run judges each run (\`test/chaos/run-model.ts\`). It requires the same artifacts byte for byte, the same spec and file of each
phase and team, the same calls, each answer kept and delivered once, and no call paid for again unless a death found it without a
recorded reply. Then the invariants of every fault test are checked: histories replay, no workflow task failed, artifacts are whole,
usage adds up.

\`\`\`
${renderCommands(repeat)}
\`\`\`

## Result of ${date}

Seed ${result.seed}, ${result.lanes} runs side by side, ${Math.round(result.seconds)} s, ${versions.join(', ')}.

${table(['what', 'count'], countLines(verdict))}

${table(['phase', 'what is done', 'runs', 'how often it happened'], result.phases.map(describePhase))}

## Seconds to recover

Seconds from the moment a worker is available until the first interrupted item of work continued, and until the last one did. A run
that only waits for a person has nothing to recover. The limit is 12 s if a model call was in progress, otherwise 4 s. A call is in
progress from its start to its report, a little longer than its request, so such deaths have rows of their own.

${table(['after', 'times', 'first: median / p95 / max', 'last: median / p95 / max', 'over the limit', 'slowest'], describeRecoveries(verdict))}
${renderFaults(verdict)}`;
}

/** Returns the result of generated programs in the form of a campaign with one phase. */
export function asCampaign({ seed, seconds: took, tally }: ProgramsResult): CampaignResult {
  const phase = { ...tally, name: 'programs' as const, title: programsTitle };
  return { seed, events: 0, calls: 0, lanes: 0, phases: [phase], seconds: took };
}

/** Renders docs/campaign.md for generated programs from docs/campaign.json. */
export function renderProgramsPage(result: ProgramsResult): string {
  const { seed, programs, wanted, seconds: took, failures, mended, date } = result;
  const versions = [...result.versions, ...(result.engine === '' ? [] : [result.engine])];
  const verdict = judgeCampaign(asCampaign(result));
  const failed = failures.map(({ text, command }) => `- ${text}\n\n  \`${command}\`\n`).join('\n');
  return `# Fault campaign

\`npm run chaos -- --programs 100\` generates runs of one to four waves with agents, triads, teams with and without a thread, questions,
conflicts, writes with and without approval, edits and sandboxed commands in copies of a folder, calls of an MCP server, small budgets,
instructions, pauses, and servers that make workflows continue as new early. It plays each undisturbed, hurts it twice, and compares. What
is done: deaths at any history event, before, after and in the middle of a durable write, and during recovery; deaths of the server;
SIGSTOP; a full disk; floods of signals; clocks that jump; a worker of another version; faults of the model; \`stop\`; \`temporal workflow
reset\`. Processes are real: Temporal servers, workers, MCP servers, and a model server over HTTP. The campaign writes this page
from \`docs/campaign.json\`.

A model judges each run (\`test/chaos/run-model.ts\`). It requires the same artifacts byte for byte, the same calls and files, each answer
kept and delivered once, files that match the confirmed effects, each effect confirmed, each call of an MCP server made once or put to
the user, a bill that is what the reply ledger has and within the budget, no call paid for again unless a death found it without a recorded reply, no stall of an event loop over 5 s, a bounded store, and an end within
ten minutes of the last fault, of which two may pass without any event. Histories replay, artifacts are whole, and usage adds up. A run
that is stopped or reset need not take the same steps: its end, its files and its budget are judged. After a reset, a line of a file may be
there twice: what agents wrote before stays.

\`\`\`
npm run chaos -- --programs 100                              100 programs, of a new seed
npm run chaos -- --programs 100 --seed ${seed} --slice 10    goes on with this page's programs for 10 minutes
npm run chaos -- --only calls                                one phase of the fixed runs; --help lists them
\`\`\`

## Result of ${date}

Seed ${seed}, ${programs} of ${wanted} programs, ${took} s, ${versions.join(', ')}.${describeRest(result)}

${table(['what', 'count'], countLines(verdict))}

## Seconds to recover

Seconds from the moment a worker is available until the first interrupted item of work continued, and until the last one did. The limit
is 12 s if a model call was in progress, otherwise 4 s.

${table(['after', 'times', 'first: median / p95 / max', 'last: median / p95 / max', 'over the limit', 'slowest'], describeRecoveries(verdict))}
${failed === '' ? '' : `\n## Breaches\n\n${failed}`}${renderMended(mended)}
Older campaigns, over fixed runs: [campaign-fixed-runs.md](campaign-fixed-runs.md).
`;
}

/** Says how long the programs that are left would take, as fast as those before. */
function describeRest({ programs, wanted, seconds: took }: ProgramsResult): string {
  if (programs === 0 || programs >= wanted) return '';
  const hours = ((took / programs) * (wanted - programs)) / 3_600;
  return ` The campaign is not complete: at this pace\nthe other ${wanted - programs} programs take ${hours.toFixed(1)} h.`;
}

function renderMended(mended: ProgramsResult['mended']): string {
  if (mended.length === 0) return '';
  const list = mended.map(({ breach, fix }) => `- ${breach} ${fix}`).join('\n');
  return `\n## Breaches before this result\n\nFound by earlier campaigns and by fault tests, and mended since.\n\n${list}\n`;
}

function renderCommands(repeat: string): string {
  const commands = [
    ['npm run chaos', 'every step of the undisturbed run once'],
    ['npm run chaos -- --deaths 1000', 'about 1,000 deaths'],
    [repeat, 'repeats the choices of this page'],
    ['npm run chaos -- --only calls', 'one phase; --help lists them'],
    [`npm run chaos -- --task ${triadTask}`, 'only the delegation of the triad'],
    [`npm run chaos -- --task ${teamTask}`, 'a team in a run of its own'],
  ];
  const width = Math.max(...commands.map(([command = '']) => command.length)) + 4;
  return commands.map(([command = '', what]) => command.padEnd(width) + what).join('\n');
}

function countLines(verdict: Verdict): (readonly [string, string])[] {
  const { boughtAgain, boughtAgainMax } = verdict;
  return [
    ['runs', String(verdict.runs)],
    ['deaths', String(verdict.deaths)],
    ['pauses', String(verdict.pauses)],
    ['faults of the model', String(verdict.modelFaults)],
    ['answers sent', String(verdict.answersSent)],
    ['answers lost', String(verdict.answersLost)],
    ['answers applied twice', String(verdict.answersAppliedTwice)],
    ['calls bought again', `${boughtAgain}, of ${boughtAgainMax} in flight at a death`],
    ['operator steps', String(verdict.operatorSteps)],
    ['breaches', String(verdict.faults.length)],
  ];
}

function describePhase(phase: PhaseResult): string[] {
  return [`\`${phase.name}\``, phase.title, String(phase.runs), describeHarm(phase)];
}

/** Says how often each kind of harm happened. */
function describeHarm({ fired, modelFaults, answers }: PhaseResult): string {
  return [
    ...Object.entries(fired).map(([kind, count]) => `${kind}: ${count}`),
    ...(modelFaults > 0 ? [`faults of the model: ${modelFaults}`] : []),
    ...(answers.again > 0 ? [`answers sent again: ${answers.again}`] : []),
    ...(answers.late > 0 ? [`other answers after the first: ${answers.late}`] : []),
    ...(answers.refused > 0 ? [`answers after the end: ${answers.refused}`] : []),
  ].join('; ');
}

function describeRecoveries({ recoveries }: Verdict): string[][] {
  return recoveries.map(({ what, first, all, overLimit, limitMs, slowest }) => [
    what,
    String(all.count),
    [first.median, first.p95, first.max].map(seconds).join(' / '),
    [all.median, all.p95, all.max].map(seconds).join(' / '),
    `${overLimit} over ${seconds(limitMs)}`,
    slowest,
  ]);
}

function renderFaults({ faults }: Verdict): string {
  if (faults.length === 0) return '';
  return `\n## Breaches\n\n${faults.map((fault) => `- ${fault.slice(0, 500)}`).join('\n')}\n`;
}

/** Milliseconds as seconds with one digit. */
function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Columns as wide as their widest cell, as the formatter wants them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
