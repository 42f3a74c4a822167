import { engineLimits } from '../../core/limits.ts';

/**
 * Bytes that a block of a prompt may take. In plain English those of a first message stay below 700 KB together, about
 * 200,000 tokens: the smallest context of a current model. A script of three bytes a character has about as many tokens
 * in three times the bytes. In practice a prompt is a tenth of that.
 *
 * A member of a triad has up to 460 KB of the triad's own in addition. No model fits both in full, and the API says so
 * before anything is billed.
 */
export const blockBytesMax = {
  /** Allows a goal of the maximum length: 100,000 characters, in any script. */
  goal: 300_000,
  /** 50 constraints of 4,000 characters are allowed; more than a quarter of that is no constraint but a document. */
  constraints: 50_000,
  /** Ten texts of the user on one task, after failed verifications. */
  guidance: 50_000,
  /** An output that failed its verification, for the agent that mends it. */
  failed_output: 60_000,
  /** Judgement of a triad, for its member that gives the verdict. */
  triad_judgement: 24_000,
  /** Changes of files as a verifier sees them; it may read the files. */
  evidence_diff: 60_000,
  /** The newest stay: a later instruction may take back an earlier one. */
  instructions: 50_000,
  /** The `AGENTS.md` of a workspace: what is longer belongs into documents that it names. */
  workspace_guide: 25_000,
  /** 100 agents at 500 bytes. */
  agents: 50_000,
  /** 100 tools at 200 bytes. */
  agent_tools: 20_000,
  /** 20 teams, the most there can be, at 2 KB: a description of 1,000 characters, and 20 members. */
  teams: 40_000,
  /** 20 criteria of 1,000 characters from the user, as many again of the planner's, and as much of why they are open. */
  criteria: 100_000,
  /** 300 names at 200 bytes: 100 characters, and a title. */
  known_inputs: 60_000,
  /** The last decision's words on the next wave: 20 reasons and 20 actions at 500 bytes. */
  last_decision: 20_000,
  /** 100 attempts at 400 bytes; those with missing information take more. The newest stay. */
  tried: 40_000,
  /** One answer. A user's answer may be a document; the agent that asked got it whole. */
  answered_question: 10_000,
  /** The newest stay. */
  answered_questions: 100_000,
  /** 50 answers at 2 KB, or 12 instructions of 4,000 characters in any script. The newest stay. */
  news: 150_000,
  /** 100 facts of 600 bytes. The newest stay. */
  facts: 60_000,
  /** Changes that merges left out: 20 of the 10 conflicts that a wave may have, at 1 KB. The newest stay. */
  left_changes: 20_000,
  /** The words of 20 disputes of triads, the most that one decision resolves, at 3 KB. */
  minority_reports: 60_000,
  /** The proposal of a member in one of them. */
  minority_proposal: 1_500,
  /** The reason of another against it. */
  minority_reason: 500,
  /** 100 stale delegations at 500 bytes. */
  stale: 50_000,
  /** Summary of a wave; a longer one is not compact. */
  wave_compact: 40_000,
  /**
   * Results that a delegation's plan names, whole: about 6,000 tokens. That is less than a call that loads one of them
   * would read again, and all that six goals played by hand needed.
   */
  direct_inputs: 24_000,
  /** One upstream output's compact_md: "a few lines of Markdown". */
  upstream_compact: 8_000,
  /** The compact_md of all upstream outputs. Fifty of them, the most there can be, get 1,600 bytes each. */
  upstream_compacts: 80_000,
  /** The criteria that upstream outputs leave unmet. Fifty of them get 400 bytes each; usually few have any. */
  upstream_unmet: 20_000,
  /** 200 details at 300 bytes. The newest stay; the others can't be loaded. */
  detail_index: 60_000,
  /** The plan of the wave: 50 delegations, the most there are by default, at 2 KB. */
  wave_plan: 100_000,
  /** 100 delegations, which is more than a wave has by default, at 2 KB. */
  outcomes: 200_000,
  /**
   * Work of a wave in its decision: about 25,000 tokens, paid once a wave. Twelve outputs get 8 KB each, which is most
   * of what an agent writes; the rest can be loaded.
   */
  work: 96_000,
  /** Texts of all files that a delegation wrote, in its detail: twenty pages of one. */
  written_files: 400_000,
  /** Names of details that can be loaded in a decision: 500 of 100 characters. The newest stay. */
  known_details: 50_000,
  /** compact_md of one outcome in a decision. */
  outcome_compact: 8_000,
  /** 20 questions of 4 KB. */
  questions: 100_000,
  /** 100 documents at 8 KB would be too many: the newest stay. */
  documents: 120_000,
  /**
   * Answers that return to the agent that asked. A user's answer may be a document: one of `answerCharsMax` characters
   * comes whole in any script, three bytes a character.
   */
  answers: engineLimits.answerCharsMax * 3,
  /** The summary of a triad's phase: three lists of a few lines each. */
  phase_summary: 60_000,
  /** 20,000 characters, as long as one may be, in any script. */
  instruction: 60_000,
  /** The words of the others since the member's last turn. Two of them in a round, at 40 KB. */
  heard: 80_000,
  /** Current texts that replace those of late calls. */
  returned: 40_000,
  /** The texts of all sections and what was agreed on them. Twelve sections, the most there can be, get 10 KB each. */
  spec: 120_000,
  /** The proposals of all open claims. Three on each of twelve sections get 3 KB each. */
  claims: 120_000,
  /** Reasons of all answers to them. A hundred of them get 400 bytes each. */
  claim_reasons: 40_000,
  /** Text that a state tool returns, with the same limit as a tool's result: 25,000 tokens. */
  state_result: 100_000,
  /** The purposes of a team's members. Twenty of them, the most there can be, get 1,500 bytes each. */
  member_descriptions: 30_000,
  /** A leader's members with ids, names and capabilities: twenty at 5 KB. */
  members: 100_000,
  /** 20,000 characters, as long as they may be, in any script. */
  team_instructions: 60_000,
  /** A message, a task or a result of an earlier run of a thread. */
  thread_text: 4_000,
  /** Ten messages at 4 KB. The newest stay. */
  thread_messages: 40_000,
  /** A dozen delegations at 3 KB. The first are the best. */
  past_delegations: 40_000,
  /** Short form of the result of a leader's task. */
  task_compact: 8_000,
  /** The evidence for and against its criteria: of a triad or a team there may be twenty. */
  task_coverage: 8_000,
  /** The long form. A leader reads ten results in one conversation; load_detail gives the rest of each. */
  task_detailed: 24_000,
  /** Facts, assumptions, optional questions, missing information and changes of the task: limit of each. */
  task_facts: 6_000,
  /** The text that a member had written of an output when its time was over: 8,000 characters, in any script. */
  task_partial: 24_000,
  /** The order for a section that is written as code: what was agreed, what stands, and what else is to be known. */
  code_order: 60_000,
  /** Results of the stages of a design: rosters, sequences and instructions of sixty tasks. */
  materials: 300_000,
  /** Tasks of a plan with their instructions: sixty at 6 KB. */
  plan_tasks: 360_000,
  /** Thirty findings of a design at 4 KB. */
  findings: 120_000,
  /** The user's own words on a plan. */
  requested_change: 60_000,
} as const;
