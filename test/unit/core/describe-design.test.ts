import { describeDesign, estimatePlan } from '../../../core/design/describe-design.ts';
import { formatCount } from '../../../core/text/format.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { planTask, samplePlan } from '../../support/plans.ts';

const ref = 'ab'.repeat(32);
const usage = { ...noUsage, calls: 10, input_tokens: 900, output_tokens: 100, cost_micro_usd: 50 };
const use = { usage, worked_ms: 20_000 };

type Described = Parameters<typeof describeDesign>[0];

/** Describes a plan that was not shown yet, without research and findings. */
function describePlan(plan: Described['plan'], over: Partial<Described> = {}): string {
  const rest = { shown: null, research: [], findings: [], findings_ref: null, remarks: [], use };
  return describeDesign({ run_id: 'site', plan, plan_ref: ref, ...rest, ...over });
}

it('DSC1: the question names the address of the plan, its agents, steps, risks and expected use', () => {
  const plan = samplePlan();
  const text = describePlan(plan);
  expect(text).toContain(ref.slice(0, 12));
  expect(text).toContain('plan export site');
  for (const { agent_name } of plan.agents) expect(text).toContain(agent_name);
  const { calls, tokens } = estimatePlan(plan, use);
  const time = '30 s, estimated from the calls of the design';
  expect(text).toContain(
    `Expected besides: about ${calls} calls, ${formatCount(tokens)} tokens, less than $0.0001, ${time}`,
  );
  expect(text.match(/, proof of concept\)/g)).toHaveLength(1);
  expect(text).not.toContain('Changed since');
});

it('DSC2: a plan of any size fits into a question, and findings that are left are counted', () => {
  const tasks = Array.from({ length: 60 }, (_, at) =>
    planTask(`task-${at}`, { title: 'A long title '.repeat(9) }),
  );
  const finding = { rule: 'verifier', path: 'tasks/0', message: 'm'.repeat(2_000), cure: 'c' };
  const risks = [risk('r'.repeat(900), 'high', 'high')];
  const plan = samplePlan({ tasks, risks, summary: 's'.repeat(900), new_agents: drafts(10, 20) });
  const findings = [finding, { ...finding, path: 'tasks/1' }, finding];
  const over = { findings, findings_ref: 'cd'.repeat(32), remarks: ['m'.repeat(900)] };
  const text = describePlan(plan, { shown: samplePlan(), ...over });
  expect(text.length).toBeLessThanOrEqual(2_000);
  expect(text).toMatch(/\n3 findings left: tasks\/0: m+… · tasks\/1: m+…/);
  expect(text).toMatch(/\nAll findings: .* artifact (?:cd){32}\n/);
  expect(text).toMatch(
    /\nNew agents: draft-0 \(mcp.*\); draft-9 \(mcp_files_write_0 and 19 more\)\n/,
  );
  expect(text).toContain('Expected besides:');
  expect(text).toContain('Used so far: 10 calls');
});

it('expects no time before anything is measured, and more calls of more tasks', () => {
  const small = samplePlan({ tasks: [planTask('one')] });
  const large = samplePlan({ tasks: [planTask('one'), planTask('two')] });
  expect(estimatePlan(small, { usage: noUsage, worked_ms: 0 }).seconds).toBeNull();
  expect(estimatePlan(large, use).calls).toBeGreaterThan(estimatePlan(small, use).calls);
});

it.each([
  ['no price is known', { calls: 10, unpriced_calls: 10 }, 'cost unknown'],
  ['a price is missing', { calls: 10, unpriced_calls: 1, cost_micro_usd: 90_000 }, 'at least $0.'],
  ['nothing is measured', { calls: 0 }, 'cost unknown'],
  ['calls cost nothing', { calls: 10 }, '$0.00'],
])('DSC2: where %s, the question does not say less', (_what, over, cost) => {
  const known = { usage: { ...noUsage, ...over }, worked_ms: 20_000 };
  const [, expected] =
    /Expected besides: (.*)/.exec(describePlan(samplePlan(), { use: known })) ?? [];
  expect(expected).toContain(` tokens, ${cost}`);
});

it('expects the calls of the verifiers, a triad with all of its members', () => {
  const alone = samplePlan({ tasks: [planTask('one')] });
  const members = ['pro', 'con', 'syn'].map((name) => ({
    name,
    role: 'peer' as const,
    agent_id: 'reviewer',
  }));
  const triad = { type: 'consensus' as const, reason: 'Three see more.', members };
  const jury = samplePlan({
    tasks: alone.tasks,
    agents: alone.agents.map((one) => (one.role === 'verifier' ? { ...one, triad } : one)),
  });
  expect(estimatePlan(alone, use)).toMatchObject({ calls: 5, seconds: 10 });
  expect(estimatePlan(jury, use)).toMatchObject({ calls: 14, seconds: 16 });
});

it('DSC3: after a change the question names what differs from the plan that was shown', () => {
  const shown = samplePlan();
  const plan = { ...shown, max_parallel: shown.max_parallel + 1 };
  const text = (before: typeof shown): string => describePlan(plan, { shown: before });
  expect(text(shown)).toContain('Changed since you saw it: 1 difference: max_parallel changed');
  expect(text(plan)).toContain('Changed since you saw it: nothing.');
});

it('each list of the summary has a line', () => {
  const plan = samplePlan({
    summary:
      'Users sign in.\n\nDeliverables:\n- Tables\n- Endpoints\n\nSuccess criteria:\n- None fails',
  });
  expect(describePlan(plan)).toContain(
    'Users sign in.\nDeliverables: Tables; Endpoints\nSuccess criteria: None fails\n',
  );
});

it('the remarks of the review are shown, and lose their end first', () => {
  const remarks = ['Two verifiers would\nshorten the work.', 'm'.repeat(900)];
  const lines = describePlan(samplePlan(), { remarks }).split('\n');
  const line = lines.find((one) => one.startsWith('Remarks of the review: '));
  expect(line).toMatch(/: Two verifiers would shorten the work\. · m+…$/);
});

const drafts = (count: number, tools: number) =>
  Array.from({ length: count }, (_, at) => ({
    agent_id: `draft-${at}`,
    description: 'Moves data. '.repeat(20),
    capabilities: [],
    tools: Array.from({ length: tools }, (_tool, nth) => `mcp_files_write_${nth}`),
    risk_level: 'low' as const,
    prompt: 'Move.',
  }));

it('DSC4: tools that there is no room for are counted', () => {
  const [one] = drafts(1, 40);
  const text = describePlan(samplePlan({ new_agents: one === undefined ? [] : [one] }));
  expect(text).toMatch(/\nNew agents: draft-0 \(mcp_files_write_0, .* and \d+ more\)\n/);
});

it('DSC4: a new agent is shown with what it may do, and research with the pages that were opened', () => {
  const migrator = { agent_id: 'migrator', description: 'Moves data.', tools: ['read_file'] };
  const draft = { ...migrator, capabilities: [], risk_level: 'low', prompt: 'Move.' } as const;
  const known = { practices: ['Index.'], failure_patterns: [] };
  const research = [
    { ...known, technology: 'SQLite', sources: [{ title: 'A page', url: 'https://a.example' }] },
    { ...known, technology: 'Redis', sources: [{ title: 'Background knowledge', url: null }] },
  ];
  const plan = samplePlan({ new_agents: [{ ...draft, tools: ['read_file'], capabilities: [] }] });
  const text = describePlan(plan, { research });
  expect(text).toContain('Work of new agents: migrator: Moves data.');
  expect(text).toContain('\nNew agents: migrator (read_file)\n');
  expect(text).toContain('Research: SQLite: 1 page · Redis: background knowledge');
});

const risk = (
  assumption: string,
  likelihood: 'low' | 'medium' | 'high',
  impact: 'low' | 'medium' | 'high',
) => ({ risk_id: assumption, assumption, likelihood, impact, mitigation: 'Measured first.' });

it('the gravest risks come first, because what is too long loses its end', () => {
  const small = risk('small', 'low', 'low');
  const risks = [small, risk('grave', 'high', 'high'), risk('middling', 'medium', 'high')];
  const plan = samplePlan({ risks });
  const lines = describePlan(plan).split('\n');
  const line = lines.find((one) => one.startsWith('Risks: ')) ?? '';
  expect(line.match(/grave|middling|small/g)).toEqual(['grave', 'middling', 'small']);
});
