import * as fc from 'fast-check';
import { findJsonFault } from '../../../client/cli/commands/json-file.ts';

it('finds nothing in JSON, however it is written', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(3), (json, indent) => {
      expect(findJsonFault(JSON.stringify(JSON.parse(json), null, indent))).toBeNull();
    }),
  );
});

it('finds a fault exactly where JSON.parse refuses', () => {
  const cut = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '}', ',', '"', '\\', '\u0001', '-'),
  );
  fc.assert(
    fc.property(cut, ([json, place, inserted]) => {
      const at = place % (json.length + 1);
      const text = json.slice(0, at) + inserted + json.slice(at + 1);
      expect(findJsonFault(text) === null).toBe(isJson(text));
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['{\n  "limits": {"max_waves": }\n}', 2, 27],
  ['{"goal":"x",}', 1, 13],
  ['{"goal":"x"', 1, 12],
  ["{'goal':1}", 1, 2],
  ['', 1, 1],
  ['{} {}', 1, 4],
])('says where: %j', (text, line, column) => {
  expect(findJsonFault(text)).toEqual({ line, column });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
