import type { z } from 'zod';
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { ArchitectureDesignInput, RiskAssessmentInput } from '../../contracts/design-run.ts';
import type { DesignRequest } from '../../contracts/design-run.ts';
import { DelegationInput } from '../../contracts/delegation-run.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { BudgetInput } from '../../contracts/budget.ts';
import type { LimitsInput, ChangesMode, RunSettings } from '../../contracts/limits.ts';
import type { ForkPoint } from '../../contracts/fork.ts';
import { PlannerRunInput } from '../../contracts/planner-run.ts';
import { PlannerWaveInput } from '../../contracts/planner-wave.ts';
import { TeamInput, type NamedTeam } from '../../contracts/team.ts';
import type { Autonomy, QuestionRulesInput } from '../../contracts/question.ts';
import { removeInvisible, titleOf } from '../../core/text/cut-text.ts';
import { composeLoneDelegation, listTypedTeams } from './compose-plan.ts';
import {
  describeInputIssues,
  type InputFault,
  type WorkflowType,
} from './describe-input-issues.ts';
import { TriadInput, TriadPhaseInput, type TriadType } from '../../contracts/triad.ts';

/** Common form of all kinds of input. */
export interface RunRequest {
  readonly goal: string;
  readonly constraints: readonly string[];
  /** The user's own criteria for the whole run. */
  readonly criteria: readonly string[];
  /** The plan in the input; null when the planner has to make one, or members have to be chosen. */
  readonly delegations: readonly Delegation[] | null;
  /** The typed input of a triad, one of its phases, or a team; null for all others. */
  readonly typed:
    | { readonly kind: 'triad'; readonly input: TriadInput | TriadPhaseInput }
    | { readonly kind: 'team'; readonly input: TeamInput }
    | null;
  /** Settings of a design; null for a workflow that makes none. */
  readonly design: Omit<DesignRequest, 'plan'> | null;
  /** The typed coordination plan; null without one. */
  readonly plan: CoordinationPlan | null;
  /** The run that this one goes on from; null for one that begins from nothing. */
  readonly from: ForkPoint | null;
  readonly useDefaults: boolean;
  readonly unattended: boolean;
  /** Model of all agents; null: those of their files. */
  readonly agentsModel: string | null;
  readonly notes: boolean;
  readonly questions: QuestionRulesInput | undefined;
  readonly autonomy: Autonomy;
  /** True when every delegation gets a verifier; or criteria for which one is required. */
  readonly verify: boolean | readonly string[];
  /** Type of the triad that judges what `verify` names; undefined: one agent does. */
  readonly verifyTriad: TriadType | undefined;
  /** True when the planner may have triads do delegations. */
  readonly triads: boolean;
  /** Teams in the input, the typed one included; null when teams are not allowed. */
  readonly teams: readonly NamedTeam[] | null;
  readonly agentsDir: string | null;
  /** Typed folder; checked later. */
  readonly workspaceDir: string | null;
  readonly changes: ChangesMode;
  /** A canonical BCP 47 tag; null: the language of the goal. */
  readonly language: string | null;
  readonly priority: number | undefined;
  readonly tenant: string | undefined;
  readonly limits: LimitsInput | undefined;
  readonly budget: BudgetInput | undefined;
}

export interface ReadInput {
  /** Null when there are faults. */
  readonly request: RunRequest | null;
  readonly faults: readonly InputFault[];
  /** The folder of agents, even when the input has other faults: the faults of its files belong on the same list. */
  readonly agentsDir: string | null;
}

/** Reads the typed input of a workflow. Reports every fault at once. */
export function readInput(workflowType: WorkflowType, input: unknown): ReadInput {
  switch (workflowType) {
    case 'plannerRun':
      return read(PlannerRunInput, input, (value) => ({
        ...commonOf(value),
        design: designOf(value, value.mode ?? 'direct'),
        plan: value.plan ?? null,
        from: value.from ?? null,
        goal: value.goal,
        triads: value.triads ?? true,
        teams: teamsOf(value),
        constraints: value.constraints ?? [],
        criteria: value.criteria ?? [],
        delegations: null,
        typed: null,
      }));
    case 'plannerWave':
      return read(PlannerWaveInput, input, (value) => ({
        ...commonOf(value),
        goal: value.goal,
        triads: value.triads ?? true,
        teams: teamsOf(value),
        constraints: value.constraints ?? [],
        criteria: [],
        delegations: value.delegations ?? null,
        typed: null,
      }));
    case 'delegation':
      return read(DelegationInput, input, (value) => ({
        ...commonOf(value),
        goal: value.task_description,
        triads: false,
        teams: null,
        constraints: [],
        criteria: [],
        delegations: [composeLoneDelegation({ ...value, title: titleOf(value.task_description) })],
        typed: null,
      }));
    case 'team':
      return read(TeamInput, input, (value) => ({
        ...commonOf(value),
        goal: value.message,
        triads: true,
        teams: listTypedTeams(value),
        constraints: [],
        criteria: [],
        delegations: null,
        typed: { kind: 'team', input: value },
      }));
    case 'architectureDesign':
      return read(ArchitectureDesignInput, input, designRequest);
    case 'riskAssessment':
      return read(RiskAssessmentInput, input, riskRequest);
    case 'triad':
      return read(TriadInput, input, triadRequest);
    case 'triadPhase':
      return read(TriadPhaseInput, input, triadRequest);
  }
}

function designRequest(value: ArchitectureDesignInput): RunRequest {
  return {
    ...commonOf(value),
    ...noWork,
    design: {
      ...designOf(value, 'designed'),
      ...(value.stage !== undefined && { stage: value.stage }),
    },
    plan: value.plan ?? null,
    goal: value.goal ?? value.plan?.goal ?? '',
    constraints: value.constraints ?? [],
  };
}

function riskRequest(value: RiskAssessmentInput): RunRequest {
  return {
    ...commonOf(value),
    ...noWork,
    design: { ...designOf(value, 'designed'), technologies: value.technologies ?? [] },
    plan: value.plan,
    goal: value.plan.goal,
    constraints: [],
  };
}

/** A request that gives no work to agents. */
const noWork = {
  triads: false,
  teams: null,
  criteria: [],
  delegations: null,
  typed: null,
} as const;

/** Days for which research is used again, unless the input says otherwise. */
const researchMaxAgeDays = 30;

function designOf(
  value: {
    readonly auto_approve?: boolean | undefined;
    readonly research_max_age_days?: number | undefined;
  },
  mode: DesignRequest['mode'],
): Omit<DesignRequest, 'plan'> {
  return {
    mode,
    auto_approve: value.auto_approve ?? false,
    research_max_age_days: value.research_max_age_days ?? researchMaxAgeDays,
    technologies: [],
  };
}

function triadRequest(value: TriadInput | TriadPhaseInput): RunRequest {
  return {
    ...commonOf(value),
    goal: value.task,
    triads: true,
    teams: null,
    constraints: [],
    criteria: [],
    delegations: null,
    typed: { kind: 'triad', input: value },
  };
}

function teamsOf({
  teams,
}: Pick<PlannerRunInput | PlannerWaveInput, 'teams'>): readonly NamedTeam[] | null {
  return teams === false ? null : (teams ?? []);
}

function read<S extends z.ZodObject>(
  schema: S,
  input: unknown,
  toRequest: (value: z.infer<S>) => RunRequest,
): ReadInput {
  const parsed = schema.safeParse(input);
  const request = parsed.success ? toRequest(parsed.data) : null;
  const isInvisible = request !== null && removeInvisible(request.goal).text.trim() === '';
  const reason = 'it has no visible character. Try: say what must exist at the end';
  const faults = [
    ...(parsed.success ? [] : describeInputIssues(parsed.error, schema)),
    ...findReservedKeys(input).map((path) => ({
      path,
      reason: 'no name may be __proto__. Try: another name',
    })),
    ...(isInvisible ? [{ path: goalFieldOf(schema), reason }] : []),
  ];
  return faults.length === 0
    ? { request, faults, agentsDir: request?.agentsDir ?? null }
    : { request: null, faults, agentsDir: findAgentsDir(input) };
}

/** Returns the field that a person types the goal into. */
function goalFieldOf({ shape }: z.ZodObject): string {
  return ['goal', 'message', 'task', 'task_description'].find((name) => name in shape) ?? 'goal';
}

/** No input is nested deeper; in what is, zod finds other faults. */
const inputDepthMax = 20;

/** Returns the paths of keys that JSON can have and that zod leaves out without a word. */
function findReservedKeys(value: unknown, path = '', depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > inputDepthMax) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return key === '__proto__' ? [at] : findReservedKeys(inner, at, depth + 1);
  });
}

function findAgentsDir(input: unknown): string | null {
  const isObject = typeof input === 'object' && input !== null && 'agents_dir' in input;
  const dir = isObject ? input.agents_dir : null;
  return typeof dir === 'string' && dir !== '' ? dir : null;
}

function commonOf(
  value: RunSettings,
): Pick<
  RunRequest,
  | 'design'
  | 'plan'
  | 'from'
  | 'useDefaults'
  | 'unattended'
  | 'agentsModel'
  | 'notes'
  | 'questions'
  | 'autonomy'
  | 'verify'
  | 'verifyTriad'
  | 'agentsDir'
  | 'workspaceDir'
  | 'changes'
  | 'language'
  | 'priority'
  | 'tenant'
  | 'limits'
  | 'budget'
> {
  return {
    design: null,
    plan: null,
    from: null,
    useDefaults: value.use_defaults ?? value.unattended ?? false,
    unattended: value.unattended ?? false,
    agentsModel: value.agents_model ?? null,
    notes: value.notes ?? false,
    questions: value.questions,
    autonomy: value.autonomy ?? 'ask',
    verify: value.verify ?? value.verify_triad !== undefined,
    verifyTriad: value.verify_triad,
    agentsDir: value.agents_dir ?? null,
    workspaceDir: value.workspace_dir ?? null,
    changes: value.changes ?? 'ask',
    language: Intl.getCanonicalLocales(value.language)[0] ?? null,
    priority: value.priority,
    tenant: value.tenant,
    limits: value.limits,
    budget: value.budget,
  };
}
