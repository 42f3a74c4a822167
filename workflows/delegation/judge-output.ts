import { listUpstream } from '../../core/workspace/run-changes.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { TriadJudgement, VerificationResults } from '../../contracts/verification.ts';
import { engineLimits } from '../../core/limits.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { readingOf, takeRead } from '../execution/call-tools.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { gatherEvidence, keepWork, recordVerification } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import {
  converse,
  openConversation,
  readOn,
  stoppedWhenCancelled,
} from '../shared/conversation.ts';
import type { ConversationEnd } from '../shared/conversation.ts';
import { judgeTogether } from './judge-together.ts';
import type { ToJudge } from './judge-together.ts';
import { checkVerdict } from '../../core/verification/choose-verifier.ts';
import { isToolCall } from '../execution/call-acting-tool.ts';
import { callUntilDone, stopWhenCancelled } from '../shared/failures.ts';

interface Use {
  readonly usage: Usage;
  readonly turns: number;
}

export type Judged = { readonly use: Use } & (
  | {
      readonly type: 'judged';
      readonly result: VerificationResults['result'];
      readonly results_ref: Ref;
      /** False when the verifier gave none in all its attempts. */
      readonly hasVerdict: boolean;
      /** Defined in VerificationOutcome. */
      readonly judgement?: TriadJudgement;
    }
  | { readonly type: 'stopped' }
  /** The budget does not allow another call. */
  | { readonly type: 'denied'; readonly reason: string }
);

/**
 * Judges an output: by the checks of its evidence, and when none failed, by a conversation of the verifier. The verifier
 * sees the output, the files, the notes and the evidence, but not the author's conversation. A triad that verifies judges
 * together first; its member that writes then gives the verdict.
 */
export async function judgeOutput(judging: ToJudge, context: ExecutionContext): Promise<Judged> {
  const unused: Use = { usage: noUsage, turns: 0 };
  const gathered = await stopWhenCancelled(() => gather(context));
  if (gathered === null) return { type: 'stopped', use: unused };
  const { evidence_ref, failed } = gathered;
  if (failed > 0) return record(judging, context, { evidence_ref, verdict_ref: null, use: unused });
  if (context.order.delegation.verification?.triad_agents === undefined) {
    return giveVerdict(judging, context, { evidence_ref, use: unused });
  }
  const judged = await stopWhenCancelled(() => judgeTogether(judging, context, evidence_ref));
  if (judged === null) return { type: 'stopped', use: unused };
  if ('lost' in judged) {
    const { lost, ...use } = judged;
    const failure = noJudgement(lost);
    return record(judging, context, { evidence_ref, verdict_ref: null, use, failure });
  }
  const { outcome, judgement } = judged;
  const use: Use = { usage: outcome.usage, turns: outcome.turns };
  if (outcome.status === 'stopped') return { type: 'stopped', use };
  if (outcome.status !== 'completed' || outcome.output_ref === null) {
    const failure = noJudgement(outcome.reason);
    return record(judging, context, { evidence_ref, verdict_ref: null, use, failure, judgement });
  }
  return giveVerdict(judging, context, {
    evidence_ref,
    use,
    judged: {
      judgement,
      output_ref: outcome.output_ref,
      isDisputed: outcome.criteria_unmet.length > 0,
    },
  });
}

function noJudgement(reason: string): string {
  return `the triad came to no judgement: ${reason}`;
}

/** Basis of a verdict. */
interface Basis {
  readonly evidence_ref: Ref;
  /** Use before it. */
  readonly use: Use;
  /** Judgement of a triad. Absent without one. */
  readonly judged?: {
    readonly judgement: TriadJudgement;
    readonly output_ref: Ref;
    readonly isDisputed: boolean;
  };
}

async function giveVerdict(
  judging: ToJudge,
  context: ExecutionContext,
  basis: Basis,
): Promise<Judged> {
  const { evidence_ref, judged } = basis;
  const kept = judged === undefined ? {} : { judgement: judged.judgement };
  let { use } = basis;
  let failure = '';
  for (let n = 1; n <= engineLimits.verifierAttemptsMax; n += 1) {
    // One conversation after the other.
    // oxlint-disable-next-line no-await-in-loop
    const { end, used } = await talk(judging, context, basis);
    use = { usage: addUsage(use.usage, used.usage), turns: use.turns + used.turns };
    if (end.type === 'stopped') return { type: 'stopped', use };
    if (end.type === 'denied') return { type: 'denied', reason: end.reason, use };
    if (end.type === 'output' && end.outline.shape === 'verification') {
      const { verdict_ref } = end.outline.verdict;
      return record(judging, context, { evidence_ref, verdict_ref, use, ...kept });
    }
    failure = end.type === 'failed' ? end.reason : 'The verifier gave no verdict.';
  }
  return record(judging, context, { evidence_ref, verdict_ref: null, use, failure, ...kept });
}

async function gather({ order, superior }: ExecutionContext) {
  const { run_id, plan_ref, record_ref, upstream, delegation } = order;
  const { delegation_id, verification } = delegation;
  const builds_on = listUpstream(upstream);
  const where = { run_id, delegation_id, plan_ref, record_ref, builds_on };
  // In history before a command runs: a repeated check puts back what an interrupted one has changed.
  const { kept } =
    verification?.runs_commands === true
      ? await callUntilDone(superior, keepWork, `files of ${delegation_id}`, where)
      : { kept: null };
  return callUntilDone(superior, gatherEvidence, `evidence of ${delegation_id}`, {
    ...where,
    kept,
  });
}

async function talk(
  { outcome, commands, output_ref, verified_by, state }: ToJudge,
  context: ExecutionContext,
  { evidence_ref, judged }: Basis,
): Promise<{ readonly end: ConversationEnd; readonly used: Use }> {
  const { order, control, superior, budget } = context;
  const { run_id, registry_ref, record_ref, plan_ref, upstream, limits, delegation } = order;
  const { delegation_id } = delegation;
  const { instructions_ref, guidance_refs } = state;
  const files = outcome.files ?? [];
  // The judged output too: a long one is cut in the prompt.
  const readable = { record_ref, upstream: [...upstream, { delegation_id, output_ref, files }] };
  const conversation = openConversation(
    {
      kind: 'verification',
      record_ref,
      plan_ref,
      delegation_id,
      upstream,
      output_ref,
      files,
      evidence_ref,
      ...(commands.length > 0 && { commands }),
      notes_ref: outcome.notes?.session_ref ?? null,
      ...(judged !== undefined && { judgement_ref: judged.output_ref }),
      instructions_ref,
      guidance_refs,
    },
    limits,
  );
  const work = { loadedDetails: [] as readonly string[] };
  const end = await stoppedWhenCancelled(() =>
    converse(conversation, {
      run_id,
      agent_id: verified_by,
      delegation_id,
      registry_ref,
      recall: order.crashed,
      stage: 'verification',
      label: (calls) => turnSummary(verified_by, `verify ${delegation_id}`, calls),
      control,
      superior,
      budget,
      reading: () => ({ ...readingOf(readable, work), acts: false }),
      runTools: async (calls) =>
        readOn(calls.filter(isToolCall).flatMap((call) => takeRead(call, work) ?? [])),
      check: (outline) =>
        checkVerdict(outline, {
          isDisputed: judged?.isDisputed ?? false,
          notes: outcome.notes?.count ?? 0,
        }),
    }),
  );
  return { end, used: { usage: conversation.usage, turns: conversation.calls } };
}

async function record(
  { outcome }: ToJudge,
  { order, superior }: ExecutionContext,
  found: {
    readonly evidence_ref: Ref;
    readonly verdict_ref: Ref | null;
    readonly use: Use;
    /** Reason why there is no verdict. */
    readonly failure?: string;
    readonly judgement?: TriadJudgement;
  },
): Promise<Judged> {
  const { run_id, record_ref, delegation } = order;
  const { evidence_ref, verdict_ref, use, failure = '', judgement } = found;
  const { delegation_id } = delegation;
  const recorded = await stopWhenCancelled(() =>
    callUntilDone(superior, recordVerification, `verification of ${delegation_id}`, {
      run_id,
      delegation_id,
      agent_id: outcome.agent_id,
      record_ref,
      evidence_ref,
      verdict_ref,
      failure,
      now: nowSeconds(),
    }),
  );
  if (recorded === null) return { type: 'stopped', use };
  return {
    type: 'judged',
    ...recorded,
    hasVerdict: failure === '',
    use,
    ...(judgement !== undefined && { judgement }),
  };
}
