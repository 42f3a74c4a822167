/**
 * Finds the duties of a member that are open before its turn may end. Records count, words do not.
 *
 * Invariants:
 *   OD1. A turn that leaves a claim unanswered, a section unclaimed or unfinished, or a summary unwritten has not
 *        ended.
 *   OD2. A summary is owed only when nothing more can be settled; one that newer records contradict is owed again.
 *   OD3. An orchestrator that leaves work to do, and gives no turn, has not finished while rounds are left.
 *   OD4. Nor has one that starts a round in which a worker can't answer a claim that it has not agreed to.
 */
import type { StateToolCall, ToolCall } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { SpecState, PhaseSummaryOutline } from '../../contracts/spec.ts';
import type { StateToolName, Duties, TurnBrief } from '../../contracts/state-call.ts';
import { engineLimits } from '../limits.ts';
import {
  findOwed,
  findUnagreed,
  findUnclaimed,
  findUnfinished,
  hasOpenClaims,
} from '../spec/read-spec.ts';
import { listNames } from '../text/list-names.ts';
import type { ToolsVerdict } from '../turns/turns-state.ts';
import type { TurnWork } from './judged-call.ts';
import type { TriadPhase } from '../../contracts/triad.ts';

/** @returns every open duty at once; empty when the turn may end. */
export function findOpenDuties(brief: TurnBrief, work: TurnWork): OutputFault[] {
  return [
    ...findUnanswered(brief, work),
    ...(brief.member.role === 'orchestrator'
      ? findUndirected(brief, work)
      : findUnmade(brief, work)),
    ...findUnsummed(brief, work),
  ];
}

function findUnanswered({ duties, member }: TurnBrief, { spec }: TurnWork): OutputFault[] {
  const owed = findOwed(spec, member.name).filter((id) => duties.answer.includes(id));
  return owe(owed, 'these claims wait for your answer', 'negotiate_response for each of them');
}

function findUnmade({ duties, member, phase }: TurnBrief, { spec }: TurnWork): OutputFault[] {
  const own = spec.claims.filter((claim) => claim.member === member.name);
  const claimed = new Set(own.map(({ section_id }) => section_id));
  const unclaimed = duties.claim.filter((id) => !claimed.has(id));
  const tooFew =
    own.length < duties.claims_min
      ? [
          {
            path: 'duties.claims_min',
            reason: `you registered ${own.length} claims, and owe ${duties.claims_min}`,
            hint: 'Try: register_claim on the section that you can do best',
          },
        ]
      : [];
  return [
    ...owe(unclaimed, 'you have not claimed these sections', 'register_claim for each of them'),
    ...tooFew,
    ...owe(
      // No member leaves a section of its own half done, whatever the turn was for.
      phase === 'execute' ? findUnfinished(spec, member.name) : [],
      'these sections are yours and not done',
      'edit_section with status "done" for each of them',
    ),
  ];
}

function findUndirected(brief: TurnBrief, { spec, assignments }: TurnWork): OutputFault[] {
  const { duties, phase, round, rounds_max, at_work } = brief;
  const isIdle = assignments.length === 0;
  if (isIdle && at_work.length > 0) return [];
  const busy = [...at_work, ...assignments.map(({ member }) => member)];
  const negotiates = phase !== 'deliberate' && round <= rounds_max;
  const unasked = negotiates ? findUnagreed(spec).filter((name) => !busy.includes(name)) : [];
  const unclaimed = findUnclaimed(spec).filter((id) => duties.claim.includes(id));
  const idle: OutputFault = {
    path: 'duties.assign',
    reason: 'something is left to do, and you gave nobody a turn',
    hint: 'Try: assign_turn for one worker, or for both in one reply',
  };
  return [
    ...(isIdle && duties.assign ? [idle] : []),
    ...owe(unasked, 'claims wait for these workers', 'assign_turn for each of them'),
    ...owe(
      isIdle ? unclaimed : [],
      'nobody has claimed these sections',
      'register_claim with for_member',
    ),
  ];
}

function findUnsummed(
  { duties, phase, round, rounds_max }: TurnBrief,
  work: TurnWork,
): OutputFault[] {
  if (!duties.summary) return [];
  // Later records may have settled a section that the summary calls open.
  if (work.summary !== null) return checkSummary(work.summary, work.spec, phase);
  const goesOn = phase === 'negotiate' && hasOpenClaims(work.spec) && round < rounds_max;
  if (goesOn) return [];
  return [
    {
      path: 'duties.summary',
      reason: 'the summary of the phase is missing',
      hint: 'Try: submit_summary with decisions, open_questions and artifacts',
    },
  ];
}

function owe(ids: readonly string[], what: string, cure: string): OutputFault[] {
  if (ids.length === 0) return [];
  return [{ path: 'duties', reason: `${what}: ${listNames(ids)}`, hint: `Try: ${cure}` }];
}

/** Checks the summary of a phase beyond its shape. @returns every fault at once. */
export function checkSummary(
  { decided, open }: PhaseSummaryOutline,
  spec: SpecState,
  phase: TriadPhase,
): OutputFault[] {
  const ids = spec.sections.map(({ section_id }) => section_id);
  const unknown = [...new Set([...decided, ...open])].filter((id) => !ids.includes(id));
  // After a negotiation each section is settled or not, which is checked below.
  const missing = (phase === 'negotiate' ? [] : ids).filter(
    (id) => !decided.includes(id) && !open.includes(id),
  );
  const isSettled = (id: string): boolean =>
    spec.sections.some(({ section_id, owner }) => section_id === id && owner !== null);
  const judged = phase === 'negotiate' ? ids : [];
  const undecided = judged.filter((id) => isSettled(id) && !decided.includes(id));
  const disputed = judged.filter((id) => !isSettled(id) && !open.includes(id));
  return [
    ...fault(unknown, 'decisions', (names) => ({
      reason: `the spec has no section ${names}`,
      hint: `Try: one of ${listNames(ids)}, or null for the whole`,
    })),
    ...fault(missing, 'decisions', (names) => ({
      reason: `these sections are named nowhere: ${names}`,
      hint: 'Try: each in decisions, or in open_questions',
    })),
    ...fault(undecided, 'decisions', (names) => ({
      reason: `these sections are settled, and no decision names them: ${names}`,
      hint: 'Try: what was agreed on each, in decisions',
    })),
    ...fault(disputed, 'open_questions', (names) => ({
      reason: `these sections are not settled, and no open question names them: ${names}`,
      hint: 'Try: what is disputed on each, in open_questions',
    })),
  ];
}

function fault(
  ids: readonly string[],
  path: string,
  describe: (names: string) => Pick<OutputFault, 'reason' | 'hint'>,
): OutputFault[] {
  return ids.length === 0 ? [] : [{ path, ...describe(listNames(ids)) }];
}

/**
 * Decides what follows from the tool calls of one reply of a member.
 *
 * Invariants:
 *   DT1. A refused call spends an attempt, whatever the other calls of the reply achieved.
 *   DT2. A turn ends by its calls only when no duty is open, no call was refused, and no result must be read first.
 *   DT3. A member that owes an output never ends its turn by calls alone.
 *   DT4. The results of one reply's calls fit into one payload, however many calls there are.
 */

/** Tools whose results the member wants to read. */
const queries: readonly StateToolName[] = ['get_current_claims', 'get_negotiation_state'];

/**
 * @param refused Reasons of refused calls, in their order.
 * @param open Duties that the member still has after them.
 */
export function decideAfterCalls(
  calls: readonly (ToolCall | StateToolCall)[],
  refused: readonly OutputFault[],
  open: readonly OutputFault[],
  duties: Duties,
): ToolsVerdict {
  if (refused.length > 0) return { type: 'invalid', faults: refused };
  const isOver = open.length === 0 && !duties.output && !calls.some(isToBeRead);
  return { type: isOver ? 'finished' : 'go_on' };
}

/**
 * @param told characters in the results of the reply's earlier calls. @returns null when one more call may be answered.
 */
export function findFullFault(told: number): OutputFault | null {
  if (told < engineLimits.stateAnswersCharsMax) return null;
  return {
    path: 'tool',
    reason: 'the calls before it fill all that one reply can be told, so it was not made',
    hint: 'Try: fewer queries in one reply',
  };
}

function isToBeRead(call: ToolCall | StateToolCall): boolean {
  return !('state' in call) || (call.state.ok && queries.includes(call.state.call.tool));
}
