import { stateToolInputs } from '../../../contracts/state-call.ts';
import { createStateTool } from './state-tool.ts';

export const editSection = createStateTool({
  name: 'edit_section',
  input: stateToolInputs.edit_section,
  description:
    'Writes the text of one section. Use it in execute for the sections that you own, until each is done; in deliberate ' +
    'for a section that nobody owns, where its description has to be better before anybody can claim it. Give the whole ' +
    'new text, not a part of it, and as base_version the version in <spec> that you changed: an edit of an older version ' +
    'is refused and comes back with the text that stands now. status "done" says that this text is the output of the ' +
    'section; "in_progress" that you go on with it.',
  example: {
    section_id: 'storage',
    base_version: 1,
    text: '## Storage\nOne table for each month: `readings_2026_01` …',
    status: 'done',
  },
  toCall: async ({ section_id, base_version, status, text }, put) => ({
    tool: 'edit_section',
    section_id,
    base_version,
    status,
    text_ref: await put(text),
  }),
});

export const generateCode = createStateTool({
  name: 'generate_code',
  input: stateToolInputs.generate_code,
  description:
    'Has a section that you own written as code. Use it in execute, instead of edit_section, for a section that is to be ' +
    'code. It returns the code and nothing else; the code becomes the text of the section, and the section is done. ' +
    'Whoever writes it knows the section, its settled proposal and your instructions, and nothing of this conversation: ' +
    'name inputs, outputs, cases and libraries in them. It does not run or check the code.',
  example: {
    section_id: 'import',
    language: 'typescript',
    instructions:
      'A function readRows(csv: string): Row[] for the columns device, time, value. A broken line throws an error with its number.',
  },
  toCall: async ({ section_id, language, instructions }, put) => ({
    tool: 'generate_code',
    section_id,
    language,
    instructions_ref: await put(instructions),
  }),
});
