import type { Ref } from '../../contracts/ref.ts';
import type { PageDesign, PageQuestion, RunEntry, RunPage } from '../../contracts/run-page.ts';
import type { Question, QuestionKind } from '../../contracts/question.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import { describeMode } from '../../core/render/labels.ts';
import { oneLine } from '../../core/text/markdown.ts';
import { renderCoordinationPlan } from '../../core/design/render-plan.ts';
import { listApprovers } from '../../core/questions/judge-answer.ts';
import { findShownRef } from '../../core/render/questions.ts';
import { readCoordinationPlan } from '../artifacts/read-reports.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { ArtifactCorrupt, type ArtifactStore, type RunIndex } from '../ports/artifact-store.ts';
import type { ReplyLedger } from '../ports/reply-ledger.ts';
import { answerFileNeeds, answerNeeds, findAnswer } from '../projection/find-answer.ts';
import { loadTexts, textOf, type RecordTexts } from '../projection/record-texts.ts';
import { planRefOf } from '../projection/render-design.ts';
import { describeOrigin } from '../projection/render-report.ts';
import { describeSettled, describeStatus } from '../projection/render-result.ts';
import { findNewest, readNewest } from './export-run.ts';
import { readCalls } from './read-calls.ts';
import { listJudgements, listPhaseRefs, readWave, type WorkReading } from './read-page-work.ts';
import { describePlans, type ComparedRun } from '../../core/run/fork-record.ts';

export interface PageSources {
  readonly store: ArtifactStore;
  readonly index: RunIndex;
  readonly ledger: ReplyLedger;
  /** Reads a patch of the run's workspace, of one delegation or null of all; null where there is none. */
  readonly diff: (record: RunRecord, delegationId: string | null) => Promise<string | null>;
}

interface Reading extends WorkReading {
  readonly record: RunRecord;
}

/**
 * Reads everything about a run that people look up, from the log, the store and the ledger alone: no server and no worker
 * is needed, and nothing is changed.
 *
 * @returns null when the index does not have the run.
 * @throws {ArtifactCorrupt} when an artifact that the log names is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readRunPage(sources: PageSources, runId: string): Promise<RunPage | null> {
  const { store, index } = sources;
  const { ref } = await index.read(runId);
  if (ref === null) return null;
  const record = await readRecord(store, ref);
  const texts = await loadPageTexts(store, record);
  const [calls, diffs] = await Promise.all([
    readCalls(sources, record, listSpeakers(texts)),
    readDiffs(sources, record),
  ]);
  const reading = { record, texts, calls, diffs };
  return {
    run_id: record.run_id,
    goal: record.goal,
    goal_title: record.goal_title,
    constraints: record.constraints,
    instructions: record.instructions,
    started_at: record.started_at,
    updated_at: record.updated_at,
    phase: record.phase,
    status: record.status,
    usage: record.usage,
    told: tellWhole(record),
    answer: readAnswer(record, texts),
    criteria: record.criteria,
    open_questions: await Promise.all(
      record.open_questions.map((one) => readQuestion(store, reading, one)),
    ),
    answered_questions: await Promise.all(
      record.answered_questions.map((one) => readWholeAnswer(store, one)),
    ),
    rejected_answers: record.rejected_answers,
    waves: record.waves.map((wave) => readWave(reading, wave)),
    design: readDesign(reading),
    effects: record.effects ?? [],
    facts: record.facts,
    diff: diffs.get(null) ?? null,
  };
}

/** Entries of runs that were read before, by run id, each with the version of the log that it shows. */
export type KnownEntries = Map<string, { readonly version: number; readonly entry: RunEntry }>;

/**
 * Lists all runs, the newest first. A run whose log is damaged stands at the end.
 *
 * @param known Filled with what is read, so that the next listing reads only runs that have changed.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function listRunEntries(
  sources: Pick<PageSources, 'store' | 'index'>,
  known: KnownEntries = new Map(),
): Promise<readonly RunEntry[]> {
  const entries: RunEntry[] = [];
  for (const runId of await sources.index.list()) {
    // One after the other: a home may have more runs than a process may open files.
    // oxlint-disable-next-line no-await-in-loop
    const { ref, version } = await findNewest(sources.index, runId);
    const before = known.get(runId);
    // oxlint-disable-next-line no-await-in-loop
    const entry =
      before?.version === version ? before.entry : await readEntry(sources.store, runId, ref);
    if (entry.state !== 'damaged') known.set(runId, { version, entry });
    entries.push(entry);
  }
  return entries.toSorted((a, b) => (b.started_at ?? 0) - (a.started_at ?? 0));
}

async function readEntry(store: ArtifactStore, run_id: string, ref: Ref): Promise<RunEntry> {
  try {
    const { goal_title, started_at, status, phase, open_questions } = await readRecord(store, ref);
    const state = status ?? (open_questions.length > 0 ? 'waiting for you' : phase);
    return { run_id, goal_title, state, started_at };
  } catch (error) {
    if (!(error instanceof ArtifactCorrupt)) throw error;
    return { run_id, goal_title: '', state: 'damaged', started_at: null };
  }
}

/**
 * Reads what `core/run/fork-record.ts` compares of a run, ended or not.
 *
 * @throws {UnknownRun} when the index does not have the run; otherwise like `readRunPage`.
 */
export async function readComparedRun(
  sources: Pick<PageSources, 'store' | 'index'>,
  runId: string,
): Promise<ComparedRun> {
  const record = await readNewest(sources, runId);
  const texts = await loadPageTexts(sources.store, record);
  const plans = record.waves.flatMap(({ wave, plan_ref }) =>
    plan_ref === null ? [] : [[wave, textOf(texts.plans, plan_ref)] as const],
  );
  return {
    ...record,
    plan: describePlans(new Map(plans)),
    answer: readAnswer(record, texts).text,
  };
}

async function loadPageTexts(store: ArtifactStore, record: RunRecord): Promise<RecordTexts> {
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const judgements = outcomes.flatMap(listJudgements);
  const texts = await loadTexts(store, [
    answerNeeds(record),
    {
      plans: [...record.waves, ...judgements].map(({ plan_ref }) => plan_ref),
      phases: [
        ...outcomes.flatMap(({ executor }) => listPhaseRefs(executor)),
        ...judgements.flatMap(({ phases }) => phases.map(({ report_ref }) => report_ref)),
      ],
      teams: outcomes.map(({ executor }) =>
        executor.kind === 'team' ? (executor.work?.report_ref ?? null) : null,
      ),
    },
  ]);
  const tasks = [...texts.teams.values()].flatMap((team) => team.tasks);
  const [files, below] = await Promise.all([
    loadTexts(store, [answerFileNeeds(record, texts)]),
    loadTexts(store, [{ phases: tasks.flatMap(({ executor }) => listPhaseRefs(executor)) }]),
  ]);
  return {
    ...texts,
    markdown: files.markdown,
    phases: new Map([...texts.phases, ...below.phases]),
  };
}

function listSpeakers({ phases }: RecordTexts): ReadonlyMap<Ref, string> {
  return new Map(
    [...phases.values()].flatMap(({ report }) =>
      report.turns.flatMap(({ said_ref, member }) =>
        said_ref === null ? [] : [[said_ref, member] as const],
      ),
    ),
  );
}

async function readDiffs({ diff }: PageSources, record: RunRecord): Promise<Reading['diffs']> {
  const ids = record.waves.flatMap(({ outcomes }) => outcomes.map((one) => one.delegation_id));
  if (record.workspace_dir === undefined || record.changes === 'direct') return new Map();
  return new Map(
    await Promise.all([null, ...ids].map(async (id) => [id, await diff(record, id)] as const)),
  );
}

/** Reads the answer of a run that has ended, or the newest that is known of one that works. */
function readAnswer(record: RunRecord, texts: RecordTexts): RunPage['answer'] {
  if (record.status !== null) return findAnswer(record, texts);
  const last = record.waves.findLast(({ decision_ref }) => decision_ref !== null);
  if (last === undefined || last.decision_ref === null) return { text: '', note: '' };
  const { wave_compact } = textOf(texts.decisions, last.decision_ref);
  return {
    text: wave_compact,
    note: `The run has not ended. This is what is known after wave ${last.wave}.`,
  };
}

function tellWhole(record: RunRecord): readonly string[] {
  const { status, mode, settled_changes: changes, run_id } = record;
  return [
    ...(status === null ? [] : [describeStatus(record, status)]),
    ...(record.origin === undefined ? [] : [describeOrigin(record.origin)]),
    ...(mode === undefined ? [] : [`Chosen: ${oneLine(describeMode(mode))}.`]),
    ...(changes === undefined ? [] : [`Changes: ${oneLine(describeSettled(changes, run_id))}`]),
  ];
}

async function readQuestion(
  store: ArtifactStore,
  { record, texts, diffs }: Reading,
  question: RunRecord['open_questions'][number],
): Promise<PageQuestion> {
  const ref = findShownRef(question) ?? findLine(question, 'verification', 'All of it');
  const changedRef = findLine(question, 'plan_approval', 'All of the new version');
  const planRef = planRefOf(record);
  const shown: { title: string; text: string }[] = [];
  if (ref !== null) shown.push({ title: 'All of it', text: await readShown(store, ref) });
  if (changedRef !== null) {
    // The record has it only once it is approved.
    const plan = renderCoordinationPlan(await readCoordinationPlan(store, changedRef));
    shown.push({ title: 'The new version of the plan', text: plan });
  } else if (question.kind === 'plan_approval' && planRef !== null) {
    const plan = renderCoordinationPlan(textOf(texts.coordination_plans, planRef));
    shown.push({ title: 'The plan', text: plan });
  }
  const diff = diffs.get(null) ?? null;
  if (question.kind === 'changes' && diff !== null) {
    shown.push({ title: 'The changes', text: diff });
  }
  return { ...question, ...listApprovers(question, record.approvers ?? null), shown };
}

/** Reads a text that a question shows. One that is lost must not hide the question. */
async function readShown(store: ArtifactStore, ref: Ref): Promise<string> {
  try {
    return await store.getText(ref);
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return `It can't be shown. ${error.message}`;
    throw error;
  }
}

/**
 * Finds the address of the whole text in a question of the engine. It stands after all that agents wrote, so the last such
 * line counts.
 *
 * @returns null where the question is of another kind, or has no such line.
 */
function findLine(question: Question, kind: QuestionKind, words: string): Ref | null {
  // The plan that is approved first has no such line, and its summary may not pose as one.
  const isFirst = question.text.startsWith('Approve the plan ');
  if (question.kind !== kind || isFirst) return null;
  const line = new RegExp(`^${words}: .{1,80} artifact ([0-9a-f]{64})$`);
  const found = question.text.split('\n').flatMap((text) => line.exec(text)?.[1] ?? []);
  return found.at(-1) ?? null;
}

async function readWholeAnswer(store: ArtifactStore, one: StoredAnswer): Promise<StoredAnswer> {
  return one.answer_ref === null ? one : { ...one, answer: await store.getText(one.answer_ref) };
}

function readDesign({ record, texts, calls }: Reading): PageDesign | null {
  const { design } = record;
  if (design === undefined) return null;
  const ref = planRefOf(record);
  return {
    status: design.status,
    plan: ref === null ? null : renderCoordinationPlan(textOf(texts.coordination_plans, ref)),
    usage: design.usage,
    conversations: calls.filter(({ wave }) => wave === 0).flatMap((one) => one.conversations),
  };
}
