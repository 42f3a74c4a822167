import { parseJson } from '../core/json.ts';
import { z } from 'zod';
import { answerCommand } from '../core/render/questions.ts';
import { teamViewOf, triadViewOf } from '../core/executor.ts';
import type { Question } from '../contracts/question.ts';
import type { TaskView, TeamView } from '../contracts/views.ts';
import type { CallReading, TeamLook } from './read-work.ts';
import type { DelegationEvent, TeamEvent, TextEvent, EndEvent } from './team-event.ts';
import type { PartOutcome, RunEnd } from './read-view.ts';
import { PlanwaveClientError } from './client-error.ts';

/** An event, and all that was told with it. */
interface Told {
  readonly event: TeamEvent;
  readonly cursor: TeamCursor;
}

/** Tells one event: given what was told before it, null when there is nothing new. */
type Telling = (cursor: TeamCursor) => Told | null;

/**
 * Lists what is new in a look at a team, in the order in which it happened as far as that can be seen: a task never ends after
 * its leader has heard of it, and no text comes before its task was given out.
 */
export function tellTeam(before: TeamCursor, look: TeamLook): Told[] {
  const { work } = look;
  const top = teamViewOf(work?.executor);
  const teams = work === null || top === null ? [] : listTeams(work.delegation_id, top);
  const tasks = teams.flatMap(({ view }) => view.tasks);
  // A nested team is at its end before the task that it did.
  const ended = teams
    .toReversed()
    .flatMap(({ view }) => view.tasks)
    .filter((task) => task.delegation_id in before.tasks && isOver(task));
  const leading = new Set(teams.map(({ delegation_id }) => delegation_id));
  const at = new Set([...leading, ...tasks.map(({ delegation_id }) => delegation_id)]);
  const [last, current] = split(
    look.calls.filter(({ delegation_id }) => at.has(delegation_id)),
    ({ delegation_id }) => ended.some((task) => task.delegation_id === delegation_id),
  );
  return tellAll(before, [
    ...last.map((call) => tellText(call, leading)),
    ...ended.map(tellTask),
    ...teams.flatMap((team) => [tellLeader(team), ...team.view.tasks.map(tellTask)]),
    ...current.map((call) => tellText(call, leading)),
    ...(look.questions ?? []).map((question): Telling => tellQuestion(look.run.run_id, question)),
  ]);
}

/** Drops what need not be remembered any more: calls that are over, and questions that are answered. */
export function forgetOld(cursor: TeamCursor, look: TeamLook): TeamCursor {
  const inFlight = new Set(look.calls.map(({ call }) => call));
  const open = look.questions?.map(({ question_id }) => question_id);
  return {
    ...cursor,
    texts: Object.fromEntries(Object.entries(cursor.texts).filter(([call]) => inFlight.has(call))),
    questions: cursor.questions.filter((id) => open?.includes(id) ?? true),
  };
}

function tellAll(before: TeamCursor, tellings: readonly Telling[]): Told[] {
  const all: Told[] = [];
  for (const telling of tellings) {
    const told = telling(all.at(-1)?.cursor ?? before);
    if (told !== null) all.push(told);
  }
  return all;
}

interface TeamAt {
  readonly delegation_id: string;
  readonly view: TeamView;
}

/** A team and those below it, each before its members. */
function listTeams(delegation_id: string, view: TeamView): readonly TeamAt[] {
  const below = view.tasks.flatMap((task) => {
    const team = teamViewOf(task.executor);
    return team === null ? [] : listTeams(task.delegation_id, team);
  });
  return [{ delegation_id, view }, ...below];
}

function isOver({ state }: TaskView): boolean {
  return state !== 'pending' && state !== 'running' && state !== 'waiting';
}

function tellLeader({ delegation_id, view }: TeamAt): Telling {
  return (cursor) => {
    const { agent_id, state, turns } = view.leader;
    const known = cursor.leaders[delegation_id];
    const telling = `${state} ${turns}`;
    const given = view.tasks.length - (known?.given ?? 0);
    const refusals = view.refused_total - (known?.refused ?? 0);
    if (known?.telling === telling && given === 0 && refusals === 0) return null;
    const refused = refusals > 0 ? view.refused.slice(-refusals) : [];
    const heard = { telling, given: view.tasks.length, refused: view.refused_total };
    return {
      event: { type: 'leader', delegation_id, agent_id, state, turn: turns, given, refused },
      cursor: { ...cursor, leaders: { ...cursor.leaders, [delegation_id]: heard } },
    };
  };
}

function tellTask(task: TaskView): Telling {
  return (cursor) => {
    const { delegation_id, member_id, title, state, reason, attempts, usage } = task;
    const telling = tellingOf(task);
    if (cursor.tasks[delegation_id] === telling) return null;
    const told = { delegation_id, member_id, title, state, reason, attempts, usage };
    const event: DelegationEvent = { type: 'delegation', ...told, phase: phaseOf(task) };
    return { event, cursor: { ...cursor, tasks: { ...cursor.tasks, [delegation_id]: telling } } };
  };
}

/** Returns what is told again when it changes. The phases of a triad are told; their rounds and turns are not. */
export function tellingOf(task: TaskView): string {
  return [task.state, task.attempts, phaseOf(task) ?? '', task.reason].join(' ');
}

function phaseOf(task: TaskView): string | null {
  return isOver(task) ? null : (triadViewOf(task.executor)?.phase ?? null);
}

function tellText(reading: CallReading, leading: ReadonlySet<string>): Telling {
  return (cursor) => {
    const { call, delegation_id, agent_id, text_chars } = reading;
    const shown = cursor.texts[call] ?? 0;
    if (text_chars <= shown) return null;
    const position = Math.max(shown, text_chars - reading.text.length);
    const event: TextEvent = {
      type: 'text',
      delegation_id,
      from: leading.has(delegation_id) ? 'leader' : 'member',
      agent_id,
      call,
      position,
      text: reading.text.slice(reading.text.length - (text_chars - position)),
      gap: position > shown,
    };
    return { event, cursor: { ...cursor, texts: { ...cursor.texts, [call]: text_chars } } };
  };
}

function tellQuestion(runId: string, question: Question): Telling {
  return (cursor) => {
    const { question_id } = question;
    if (cursor.questions.includes(question_id)) return null;
    const command = answerCommand(runId, question);
    return {
      event: { type: 'question', question, command },
      cursor: { ...cursor, questions: [...cursor.questions, question_id] },
    };
  };
}

function split<T>(items: readonly T[], fits: (item: T) => boolean): readonly [T[], T[]] {
  return [items.filter(fits), items.filter((item) => !fits(item))];
}

/** The code of the ErrorEvent of a team that did not bring what it was to bring. */
const teamFailed = 'team_failed';

/** Endings that people wanted, so that they are no error. */
const wanted: readonly string[] = ['completed', 'stopped', 'cancelled'];

/** The last events of a stream, in their order: the error, the answer as far as there is one, the end. */
export function tellEnd(end: RunEnd): TeamEvent[] {
  if (end.ended === 'part') return tellOutcome(end.outcome);
  if (end.ended === 'result')
    return [{ ...noEnd, type: 'end', status: end.result.status, reason: '' }];
  if (end.ended === 'evaluation')
    return [{ ...noEnd, type: 'end', status: 'completed', reason: '' }];
  const { ended: status, reason } = end;
  return [...errorOf(status, reason), { ...noEnd, type: 'end', status, reason }];
}

const noEnd: Omit<EndEvent, 'type' | 'status' | 'reason'> = {
  usage: null,
  leader: null,
  members: [],
  tasks: {},
  partial: false,
  notes: [],
};

function tellOutcome(outcome: PartOutcome): TeamEvent[] {
  if (!('delegation_id' in outcome))
    return [{ ...noEnd, type: 'end', status: outcome.status, reason: '' }];
  const { status, reason, usage, executor } = outcome;
  const team = executor.kind === 'team' ? executor.work : null;
  const answer = 'answer' in outcome ? outcome.answer : '';
  return [
    ...errorOf(status, reason),
    ...(answer === '' ? [] : [{ type: 'answer', text: answer } as const]),
    {
      ...noEnd,
      type: 'end',
      status,
      reason,
      usage,
      ...(team !== null && {
        leader: team.leader,
        members: team.members,
        tasks: team.tasks,
        partial: team.partial,
        notes: team.notes,
      }),
    },
  ];
}

function errorOf(status: string, reason: string): TeamEvent[] {
  if (wanted.includes(status)) return [];
  return [{ type: 'error', code: teamFailed, message: reason || `The team ended ${status}.` }];
}

const count = z.number().int().min(0);

/** Record of the events of a team that were given out, so that any process can continue without repeating one. */
export const TeamCursor = z.strictObject({
  version: z.literal(1),
  /** Keyed by the delegation_id of its team. */
  leaders: z.record(
    z.string(),
    z.strictObject({ telling: z.string(), given: count, refused: count }),
  ),
  /** The last report of each, keyed by delegation_id. */
  tasks: z.record(z.string(), z.string()),
  /** UTF-16 units that were told, by call. Only calls in flight. */
  texts: z.record(z.string(), count),
  /** question_ids that are open and were told. */
  questions: z.array(z.string()),
  /** Types of the last events that were told. */
  ending: z.array(z.enum(['error', 'answer', 'end'])),
});
export type TeamCursor = z.infer<typeof TeamCursor>;

export const emptyCursor: TeamCursor = {
  version: 1,
  leaders: {},
  tasks: {},
  texts: {},
  questions: [],
  ending: [],
};

export function writeCursor(cursor: TeamCursor): string {
  return JSON.stringify(cursor);
}

/** @throws PlanwaveClientError `bad_input` when it is no cursor of `streamTeam`. */
export function readCursor(text: string): TeamCursor {
  const parsed = TeamCursor.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new PlanwaveClientError(
    'bad_input',
    'The cursor does not come from a stream of a team. Try: the `cursor` of an earlier stream as it was, or none.',
  );
}
