import type { QuestionsEscalation } from '../../contracts/messages.ts';
import type { SettledAnswer } from '../../contracts/planner-run.ts';
import type { Autonomy, QuestionRules } from '../../contracts/question-rules.ts';
import type { Question, RejectedAnswer } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { QuestionMoment } from './question-moments.ts';

/** What happens to an inbox. `now` is in Unix epoch seconds. */
export type InboxEvent =
  | {
      readonly type: 'ask';
      readonly escalation: QuestionsEscalation;
      readonly now: number;
      /** Take each question's default at once, where it has one. */
      readonly use_defaults: boolean;
      readonly autonomy: Autonomy;
      readonly rules: QuestionRules;
      /** Of each question that expects json. If undefined, any JSON is taken. */
      readonly answer_schema?: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly type: 'answer';
      readonly payload: unknown;
      readonly now: number;
      readonly default_answered_by: string;
    }
  /** The time for it has come. */
  | { readonly type: QuestionMoment; readonly question_id: string; readonly now: number }
  /** Who asked is gone: a delegation, or with null all that this workflow asked for. */
  | {
      readonly type: 'withdraw';
      readonly from: string;
      readonly delegation_id: string | null;
      readonly now: number;
    }
  /** A long answer is in the store now. Kept until its escalation is delivered. */
  | { readonly type: 'stored'; readonly question_id: string; readonly answer_ref: Ref };

/** What follows from an event. */
export type InboxEffect =
  | { readonly type: 'opened'; readonly question: Question }
  /** People are reminded of it, or somebody else is asked too. */
  | { readonly type: 'changed'; readonly question: Question }
  /** `text` is the whole answer, however long. */
  | {
      readonly type: 'answered';
      readonly question: Question;
      readonly text: string;
      readonly answered_by: string;
      /** What the planner took it from. */
      readonly source_refs: readonly string[];
    }
  /** Nobody waits for it any more. */
  | { readonly type: 'withdrawn'; readonly question: Question }
  | { readonly type: 'rejected'; readonly rejected: RejectedAnswer }
  /** The same answer again: no harm done. */
  | { readonly type: 'repeated'; readonly question_id: string }
  /** All questions of an escalation are settled. */
  | {
      readonly type: 'deliver';
      readonly escalation_id: string;
      readonly from: string;
      readonly answers: readonly InboxDelivery[];
    };

/** A cut answer's `answer_ref` is set if the event `stored` came before the last answer of its escalation. */
export interface InboxDelivery extends SettledAnswer {
  /** Of a question that was not put to the user: the earlier one it repeats, or `not-asked`. */
  readonly question_id: string;
  /** The question. */
  readonly text: string;
}
