import {
  doerRules,
  decisionRules,
  planRules,
  reviewRules,
} from '../../../activities/prompts/common-rules.ts';
import { stages } from '../../../activities/stages/stages.ts';
import { agents } from './bench.ts';
import { createRun } from './prompt-bench.ts';

const rules = (triads: boolean, teams: boolean): string => planRules({ triads, teams });

describe('the system prompt', () => {
  const [plans, reviewer, writer] = agents.map((agent) =>
    stages[agent.agent_id === 'planner' ? 'plan' : 'delegation'].system(agent, null),
  );

  it('common rules are byte-equal for all agents that do work, and end in a cache breakpoint', () => {
    expect(reviewer).toEqual(writer);
    expect(reviewer?.map(({ cacheBreakpoint }) => cacheBreakpoint)).toEqual([true]);
  });

  it('the planner has rules of its own, and its role after them', () => {
    expect(plans?.[0]?.text).not.toBe(writer?.[0]?.text);
    expect(plans?.[0]?.text).toContain('You never do the work');
    expect(plans?.[1]?.text).toContain('# Your role: planner');
  });

  it('finding P9: a planner reads of triads and teams only where the run allows them, and of planning only when it plans', () => {
    expect(rules(false, false)).not.toMatch(/triad|team_id|<teams>/u);
    expect(rules(true, false)).toContain('# Triads');
    expect(rules(true, false)).not.toContain('# Teams');
    expect(rules(false, true)).toContain('# Teams');
    expect(decisionRules).not.toContain('# Planning a wave');
    expect(reviewRules({ architect: false })).not.toMatch(/# Deciding on a wave|architect/u);
    expect(reviewRules({ architect: true })).toContain('# The solution architect');
  });

  it('finding P9: a plan is asked to be small, with one example of a small goal and one of a costly one', () => {
    const text = rules(true, true);
    expect(text).toContain('The smallest plan that can meet the criteria is the best one');
    expect(text).toMatch(/Example of a small goal.*one delegation/u);
    expect(text).toMatch(/Example of a costly goal.*author, reviewer and author/u);
  });

  it('finding W2: a plan may not ask for what no tool can do, and its own example does not', () => {
    const text = rules(false, false);
    expect(text).toContain('No agent can run code, browse or read the workspace unless');
    expect(text).not.toContain('with a source for each');
  });

  it('finding P4: an agent makes the choices that its task asks for, and escalates only what nothing settled', () => {
    expect(doerRules).toContain(
      'What your task asks you to choose or recommend is yours to choose.',
    );
    expect(doerRules).not.toMatch(/even when one seems obvious|When in doubt, escalate/u);
    // The list of the concept stays, with its names.
    for (const name of [
      'Technology and tool',
      'Architecture',
      'Security',
      'Requirements',
      'Conflicting guidance',
    ])
      expect(doerRules).toContain(`- ${name}`);
    expect(doerRules).toContain('When in doubt, take the careful choice');
  });

  it('no rule holds anything of a run', async () => {
    const { bench } = await createRun();
    await bench.turn();
    await bench.turn({ agent_id: 'reviewer' });
    const [one, two] = bench.model.requests.map((request) => request.system[0]);
    expect(one).toEqual(two);
    expect(JSON.stringify(one)).not.toContain('my-run');
  });
});
