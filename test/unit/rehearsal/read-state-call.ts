import type Anthropic from '@anthropic-ai/sdk';
import { stateToolInputs } from '../../../contracts/state-call.ts';
import type { StateCall } from '../../../contracts/state-call.ts';

/**
 * A call as the workflow gets it. Read strictly.
 *
 * @param put keeps a text and names it.
 * @throws for a call that is none of a state tool, or breaks its schema.
 */
export function readStateCall(
  { name, input }: Pick<Anthropic.ToolUseBlock, 'name' | 'input'>,
  put: (text: string) => string,
): StateCall {
  switch (name) {
    case 'register_claim': {
      const { proposal, for_member = null, ...call } = stateToolInputs[name].parse(input);
      return { tool: name, ...call, for_member, proposal_ref: put(proposal) };
    }
    case 'negotiate_response': {
      const { reason, revised_proposal, ...call } = stateToolInputs[name].parse(input);
      const revised_ref = typeof revised_proposal === 'string' ? put(revised_proposal) : null;
      return { tool: name, ...call, reason_ref: put(reason), revised_ref };
    }
    case 'edit_section': {
      const { text, ...call } = stateToolInputs[name].parse(input);
      return { tool: name, ...call, text_ref: put(text) };
    }
    case 'generate_code': {
      const { instructions, ...call } = stateToolInputs[name].parse(input);
      return { tool: name, ...call, instructions_ref: put(instructions) };
    }
    case 'assign_turn': {
      const { instruction, ...call } = stateToolInputs[name].parse(input);
      return { tool: name, ...call, instruction_ref: put(instruction) };
    }
    case 'submit_summary': {
      const summary = stateToolInputs[name].parse(input);
      return {
        tool: name,
        summary: {
          summary_ref: put(JSON.stringify(summary)),
          decided: named(summary.decisions),
          open: named(summary.open_questions),
        },
      };
    }
    default:
      throw new Error(`A rehearsed member calls no "${name}".`);
  }
}

function named(entries: readonly { readonly section_id: string | null }[]): string[] {
  return entries.flatMap(({ section_id }) => (section_id === null ? [] : [section_id]));
}
