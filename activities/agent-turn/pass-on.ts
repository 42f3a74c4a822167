import { AgentOutput } from '../../contracts/agent-output.ts';
import type { PassingOutput } from '../../contracts/agent-output.ts';
import type { Passable } from '../../contracts/agent-output.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { appendMarkdown, embedCode } from '../../core/text/markdown.ts';
import { readShape } from '../tools/read-artifact.ts';

export type PassedOn =
  | { readonly ok: true; readonly value: AgentOutput }
  | { readonly ok: false; readonly faults: readonly OutputFault[] };

/**
 * Makes the whole output of one that passes texts on: its own `detailed_md`, then what `detailed_from` names, word for
 * word and each once. Whoever reads the output later finds everything in `detailed_md`.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function passOn(
  store: ArtifactStore,
  { detailed_from = [], ...output }: PassingOutput,
  passable: readonly Passable[],
): Promise<PassedOn> {
  const names = [...new Set(detailed_from)];
  const found = names.map((name) => passable.find((one) => one.names.includes(name)));
  const faults = names.flatMap((name, i) =>
    found[i] === undefined ? [unknownName(name, detailed_from.indexOf(name), passable)] : [],
  );
  if (faults.length > 0) return { ok: false, faults };
  const parts = await Promise.all(
    found.flatMap((one) => (one === undefined ? [] : [readText(store, one)])),
  );
  const written = [output.detailed_md, ...parts].filter((text) => text.trim() !== '');
  if (written.length === 0) return { ok: false, faults: [emptyDetail(passable)] };
  return { ok: true, value: { ...output, detailed_md: written.reduce(appendMarkdown) } };
}

async function readText(store: ArtifactStore, passable: Passable): Promise<string> {
  if (passable.type === 'result') {
    const output = await readShape(store, passable.output_ref, AgentOutput, "an agent's output");
    return output.detailed_md;
  }
  const { sections } = passable;
  const texts = await Promise.all(
    sections.map(async ({ section_id, text_ref, language }) => {
      const text = await store.getText(text_ref);
      const shown =
        language === null ? text : embedCode(text, { language, charsMax: Infinity, whole: '' });
      const isNamed = sections.length === 1 || text.trimStart().startsWith('#');
      return isNamed && language === null ? shown : `## ${section_id}\n\n${shown}`;
    }),
  );
  return texts.reduce(appendMarkdown);
}

function unknownName(name: string, at: number, passable: readonly Passable[]): OutputFault {
  return {
    path: `detailed_from[${at}]`,
    reason: `nothing with a result is called ${listNames([name])}`,
    hint:
      passable.length === 0
        ? 'Try: write the result in detailed_md, and leave detailed_from out'
        : `Try: one of ${listNames(passable.flatMap(({ names }) => names.slice(0, 1)))}`,
  };
}

function emptyDetail(passable: readonly Passable[]): OutputFault {
  const names = listNames(passable.flatMap((one) => one.names.slice(0, 1)));
  return {
    path: 'detailed_md',
    reason: 'it is empty, and detailed_from passes nothing on',
    hint: `Try: the whole result in detailed_md${passable.length === 0 ? '' : `, or detailed_from with one of ${names}`}`,
  };
}
