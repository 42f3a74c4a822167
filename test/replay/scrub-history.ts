type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** `<pid>@<host>`, alone or as the beginning of a sticky queue's name. */
const machine = /\b\d+@[\w.-]+/g;

/** The queue of a stage, whose name is random. */
const stageQueue = /\btest-[0-9a-f]{8}\b/g;

/** Place of the store in a payload, which stands in history as base64. */
const place = /"place":"\\"[^"]*\\" on [^"]*"/g;

/** A scenario's folder of the user's, also where a text is cut in its middle. */
const folder = /\/tmp\/planwave-h[\w-]*/g;

function scrubPayload(data: string): string {
  const text = Buffer.from(data, 'base64').toString('utf8');
  const scrubbed = text.replaceAll(place, '"place":"a store"').replaceAll(folder, '/folder');
  return scrubbed === text ? data : Buffer.from(scrubbed, 'utf8').toString('base64');
}

/** Says where a file of this machine is, and nothing that replay looks at. */
const stackTraces = new Set(['stackTrace']);

/** A history as it is stored: without the names and folders of the machine that it was recorded on. */
export function scrubHistory(value: unknown): Json {
  if (typeof value === 'string') {
    const unnamed = value.replaceAll(machine, 'worker').replaceAll(stageQueue, 'planwave');
    return unnamed.replaceAll(folder, '/folder');
  }
  if (Array.isArray(value)) return value.map(scrubHistory);
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([name]) => !stackTraces.has(name));
    return Object.fromEntries(
      entries.map(([name, one]) => [
        name,
        name === 'data' && typeof one === 'string' ? scrubPayload(one) : scrubHistory(one),
      ]),
    );
  }
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
