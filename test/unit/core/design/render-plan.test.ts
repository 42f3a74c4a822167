import {
  projectSharedStatus,
  renderConversationSummary,
  renderCoordinationPlan,
} from '../../../../core/design/render-plan.ts';
import { designParts, samplePlan, withTask } from '../../../support/plans.ts';

describe('renderCoordinationPlan', () => {
  const page = renderCoordinationPlan(samplePlan());

  it('RC1: the page shows all of the plan', () => {
    expect(page.match(/^## .+$/gm)).toEqual([
      '## Goal',
      '## Summary',
      '## Agent Roster',
      '## Sequence',
      '## Tasks',
      '## Validation Checkpoints',
      '## File Communication Contracts',
      '## Risks',
      '## Escalation Procedures',
    ]);
    for (const { task_id } of samplePlan().tasks) expect(page).toContain(`\`${task_id}\``);
    expect(page).toContain('| api_agent | doer | Builds the API. | engineer | database_agent |');
    expect(page).toContain(
      '1. 2 tasks, in parallel: try-index_1727539200 (database_agent), docs_1727539200 (api_agent)',
    );
    expect(page).toContain(
      '| agents/database_agent/task_output/schema.md | Markdown | schema_1727539200 | api_1727539200 |',
    );
    expect(page).toContain('```mermaid\nflowchart TD\n  t1{{"');
  });

  it('RC2: texts of the plan stay inside their place', () => {
    const hostile = withTask(3, () => ({
      title: 'Docs\n## Risks\nNone.',
      instructions: '# Sequence\n```\nnever closed',
      outputs: [{ path: 'a|b\n.md', format: 'x | y' }],
    }));
    const rendered = renderCoordinationPlan({ ...hostile, goal: '# Goal\n<details>' });
    expect(rendered.match(/^## .+$/gm)).toEqual(page.match(/^## .+$/gm));
    expect(rendered).toContain(String.raw`| a\|b .md | x \| y | docs_1727539200 | – |`);
  });
});

it('the summary of an interview has the format of seed 003', () => {
  expect(renderConversationSummary(designParts().summary))
    .toBe(`# Conversation Summary: user-management

## What We're Trying to Accomplish
Users can sign up.

## Key Decisions Made
- Decision: PostgreSQL
  - Rationale: It runs already.
  - Alternatives considered: None.

## Constraints & Assumptions
- No new server.

## Questions Resolved
- Q: Is e-mail unique?
- A: Yes.

## Open Items
- None.

## Dependencies & Integration Points
- The present database.
`);
});

const task = (name: string, status: 'verified' | 'working', unresolved: number | null) => ({
  task_id: `${name}_1727539200`,
  status,
  last_update: 1_727_540_000 + name.length,
  notes: unresolved === null ? null : { count: 2, unresolved },
});

describe('projectSharedStatus', () => {
  const begun = { status: 'in_progress', session_start: 1_727_539_800 };

  it('RC3: before the work no notes are counted and there is no gate', () => {
    expect(projectSharedStatus(samplePlan(), { ...begun, tasks: [] })).toEqual({
      task_id: 'user-management',
      status: 'in_progress',
      session_start: 1_727_539_800,
      agents: {
        database_agent: { status: 'pending', last_update: null },
        api_agent: { status: 'pending', dependencies: ['database_agent'], last_update: null },
      },
      verification: {
        reviewer_agent: {
          status: 'pending',
          assigned_agents: ['database_agent', 'api_agent'],
        },
      },
    });
  });

  it('RC3: counted notes are shown, and unresolved ones close the gate', () => {
    const tasks = [task('try-index', 'verified', 0), task('schema', 'working', 1)];
    expect(projectSharedStatus(samplePlan(), { ...begun, tasks })).toMatchObject({
      agents: {
        database_agent: {
          status: 'working',
          completion_drive_notes_count: 4,
          unresolved_notes: 1,
          last_update: 1_727_540_009,
        },
      },
      overall_completion_drive_gate: 'blocked',
    });
    const open = [task('try-index', 'verified', 0)];
    expect(projectSharedStatus(samplePlan(), { ...begun, tasks: open })).toMatchObject({
      overall_completion_drive_gate: 'open',
    });
    const uncounted = projectSharedStatus(samplePlan(), {
      ...begun,
      tasks: [...open, task('docs', 'working', null)],
    });
    expect(uncounted).not.toHaveProperty('overall_completion_drive_gate');
  });
});
