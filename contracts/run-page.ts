import type { AgentOutput, Fact } from './agent-output.ts';
import type { AcceptanceCriterion } from './delegation.ts';
import type { RecordedEffect } from './effect.ts';
import type { ModelTurnResult } from './model-turn.ts';
import type { StageName } from './names.ts';
import type { Question } from './question.ts';
import type { RecordedCriterion, RunRecord, StoredAnswer } from './run-record.ts';
import type { ContentBlock } from './transcript.ts';
import type { Usage } from './usage.ts';
import type { QuestionWait } from './views.ts';
import type { WaveDecision } from './wave-plan.ts';

/**
 * Everything that a person may look up about a run, with every text in full: what `report --html` and `view` show. It is
 * read from the run's log, the artifacts that the log names and the ledger of calls, and is stored nowhere.
 */
export interface RunPage extends Pick<
  RunRecord,
  | 'run_id'
  | 'goal'
  | 'goal_title'
  | 'constraints'
  | 'instructions'
  | 'started_at'
  | 'updated_at'
  | 'phase'
  | 'status'
  | 'usage'
  | 'rejected_answers'
> {
  /**
   * Sentences about the run as a whole, as Markdown: how it ended, the run it was taken over from, the reasons for its
   * mode, and where its changes are.
   */
  readonly told: readonly string[];
  readonly answer: PageAnswer;
  readonly criteria: readonly RecordedCriterion[];
  readonly open_questions: readonly PageQuestion[];
  readonly answered_questions: readonly StoredAnswer[];
  readonly waves: readonly PageWave[];
  /** Null for a run without a design. */
  readonly design: PageDesign | null;
  readonly effects: readonly RecordedEffect[];
  readonly facts: readonly Fact[];
  /** All changes of the run's workspace as a patch; null where there is none to show. */
  readonly diff: string | null;
}

/** A run in the list of runs. */
export interface RunEntry {
  readonly run_id: string;
  /** Empty when the log is damaged. */
  readonly goal_title: string;
  /** Status of its end; before it `waiting for you` or its phase; `damaged` when its log can't be read. */
  readonly state: string;
  /** Unix epoch seconds; null when the log is damaged. */
  readonly started_at: number | null;
}

/** The result of a run, for its user. */
export interface PageAnswer {
  /** Markdown. Empty when there is nothing to show yet. */
  readonly text: string;
  /** Tells how it was chosen, or that it is not the last word. Empty for the answer that the run ended with. */
  readonly note: string;
}

export interface PageQuestion extends Question, Pick<QuestionWait, 'approvers'> {
  /** All that an answer decides about, where the question shows only a part of it: the arguments of a call, a plan, a patch. */
  readonly shown: readonly { readonly title: string; readonly text: string }[];
}

export interface PageDesign {
  readonly status: string;
  /** The current plan as Markdown; null before there is one. */
  readonly plan: string | null;
  readonly usage: Usage;
  readonly conversations: readonly PageConversation[];
}

export interface PageWave {
  readonly wave: number;
  readonly status: string;
  /** Null while it is being planned, and without a plan. */
  readonly summary: string | null;
  readonly decision: WaveDecision | null;
  readonly usage: Usage;
  readonly conversations: readonly PageConversation[];
  readonly work: readonly PageWork[];
}

/** A delegation, a phase of its triad, a task of its team, or the judgement of a triad on its output. */
export interface PageWork {
  /** Unique in the run: a delegation_id, the id of a task, or `<delegation_id>/<phase>`. */
  readonly work_id: string;
  readonly kind: 'agent' | 'triad' | 'team' | 'phase' | 'task';
  readonly agent_id: string;
  readonly title: string;
  /** `planned`, `working`, or its end: `ended` where the record does not say which. */
  readonly state: string;
  readonly reason: string;
  /** Null where the plan is not stored. */
  readonly task: string | null;
  readonly criteria: readonly AcceptanceCriterion[];
  readonly inputs: readonly string[];
  readonly depends_on: readonly string[];
  readonly output: AgentOutput | null;
  /** Words, claims and agreements of a triad or a team, as Markdown; null for an agent. */
  readonly record: string | null;
  readonly diff: string | null;
  /** Null while it works. */
  readonly usage: Usage | null;
  readonly conversations: readonly PageConversation[];
  readonly parts: readonly PageWork[];
}

/** One agent's conversation with the model, as far as the ledger has it. */
export interface PageConversation {
  readonly agent_id: string;
  /** Name of the triad's member; null outside of triads, and where it is not known. */
  readonly member: string | null;
  readonly stage: StageName;
  /** System text, as the planwave that shows it words it; empty where the agent is not known. */
  readonly system: readonly string[];
  readonly turns: readonly PageTurn[];
}

/** One call of the model. */
export interface PageTurn {
  /** Unix epoch milliseconds; `ended_at` is null while it is under way, or when its end was not reported. */
  readonly begun_at: number;
  readonly ended_at: number | null;
  readonly attempt: number;
  readonly model: string;
  readonly request_id: string | null;
  readonly usage: Usage;
  /** Kind of the reply; null without one. */
  readonly reply_type: ModelTurnResult['reply']['type'] | null;
  /** Additions of the turn to the conversation: the exact prompt in the first one. */
  readonly sent: readonly ContentBlock[];
  readonly reply: readonly ContentBlock[];
}
