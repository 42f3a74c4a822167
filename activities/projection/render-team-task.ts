import { formatCost } from '../../contracts/format-cost.ts';
import { formatDuration } from '../../core/render/format-duration.ts';
import { formatTokens } from '../../core/usage/format-tokens.ts';
import type { LoadedTask } from './load-team.ts';
import { bullets, cutLine, embedCode, embedMarkdown, oneLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { teamLimits } from './team-limits.ts';

/** A task of a team: what was asked, how it ended, and what came of it in short. */
export function renderTask(task: LoadedTask): string {
  return [
    `### \`${task.delegation_id}\`: ${oneLine(task.title)}`,
    renderHead(task),
    ...renderAsked(task).map((part) => `#### What was asked\n\n${part}`),
    ...renderBrought(task, { depth: 4 }).map((part) => `#### What came\n\n${part}`),
  ].join('\n\n');
}

function renderAsked({ planned, plan_ref }: LoadedTask): readonly string[] {
  if (planned === null) return [];
  return [
    embedMarkdown(planned.task_description, {
      depth: 4,
      charsMax: teamLimits.taskCharsMax,
      whole: `the plan, artifact ${plan_ref}`,
    }),
  ];
}

function renderHead(task: LoadedTask): string {
  const { member_id, inputs, attempts, worked_ms, usage, output_ref } = task;
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return bullets(
    [
      `**State:** ${describeEnd(task)}`,
      `**Member:** ${member_id}`,
      ...(inputs.length === 0 ? [] : [`**Was given:** ${inputs.join(', ')}`]),
      `**Took:** ${tries}, ${formatDuration(Math.round(worked_ms / 1_000))} of work, ${formatCost(usage)}, ${formatTokens(usage)}`,
      ...(output_ref === null ? [] : [`**Whole:** artifact ${output_ref}`]),
      ...listReports(task),
    ],
    '',
  );
}

/** `timed_out: The 60 s of a member are over.` */
export function describeEnd({ status, reason }: Pick<LoadedTask, 'status' | 'reason'>): string {
  const why = cutLine(reason, { charsMax: teamLimits.lineCharsMax, whole: 'the report' });
  return why === '' ? status : `${status}: ${why}`;
}

/** Where a triad or a team among the members tells how it came to it. */
function listReports({ delegation_id, executor }: LoadedTask): readonly string[] {
  if (executor.kind === 'agent' || executor.work === null) return [];
  if (executor.kind === 'team') {
    return [`**How the team came to it:** ${treePaths.team(delegation_id)}`];
  }
  const last = executor.work.phases.at(-1);
  return last === undefined
    ? []
    : [`**How the triad came to it:** ${treePaths.triadPhase(delegation_id, last.phase)}`];
}

/** What a task brought, in short: its output, or the last words of one that was cut off. Empty when nothing. */
export function renderBrought(
  { output, output_ref, partial, partial_ref }: LoadedTask,
  { depth }: { readonly depth: number },
): readonly string[] {
  if (output !== null) {
    return [
      embedMarkdown(output.compact_md, {
        depth,
        charsMax: teamLimits.compactCharsMax,
        whole: `artifact ${output_ref ?? ''}`,
      }),
    ];
  }
  if (partial === null) return [];
  const words = embedCode(partial, {
    language: '',
    charsMax: teamLimits.partialCharsMax,
    whole: `artifact ${partial_ref ?? ''}`,
  });
  return [`*Not whole: what had arrived when its time was over.*\n\n${words}`];
}
