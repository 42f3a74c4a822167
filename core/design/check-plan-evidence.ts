/** Checks the evidence that a plan requires (rules DP19 to DP21 of `check-plan-file`), and keeps its checks by code. */
import type { CoordinationPlan, PlanFinding, PlanTask } from '../../contracts/coordination-plan.ts';
import { findUnwritten } from './templates.ts';

/** Finds the entries of a list whose name an earlier entry has. */
export function findTwice<T>(
  entries: readonly T[],
  nameOf: (entry: T) => string,
): { readonly at: number; readonly name: string }[] {
  const names = entries.map(nameOf);
  return names.flatMap((name, at) => (names.indexOf(name) === at ? [] : [{ at, name }]));
}

/** Returns a validation that takes the place of a task's: its evidence keeps the checks by code, which only people name. */
export function keepChecks(
  { validation: { evidence: known } }: PlanTask,
  validation: PlanTask['validation'],
): PlanTask['validation'] {
  const evidence = validation.evidence.map((one) => {
    const check = one.check ?? known.find((old) => old.evidence_id === one.evidence_id)?.check;
    return { ...one, ...(check !== undefined && { check }) };
  });
  return { ...validation, evidence };
}

/** Words that judge and measure nothing. */
const vagueWords =
  /\b(?:good|nice|works? well|great|appropriate(?:ly)?|proper(?:ly)?|adequate(?:ly)?|reasonabl[ey]|sufficient(?:ly)?|suitabl[ey]|acceptabl[ey]|user-friendly|high[- ]quality|as (?:needed|expected|appropriate)|fast enough|robust|nicely)\b/i;

/** Something that can be looked up or counted: a digit, a path, a quotation, a piece of code. */
const measures = /\d|[`"“«]|\w\/\w|\w\.\w|\b(?:all|each|every|no|none|zero|exit code)\b/i;

export function checkEvidence({ tasks }: CoordinationPlan): PlanFinding[] {
  const all = tasks.flatMap(({ validation: { evidence } }, task) =>
    evidence.map((one, at) => ({ ...one, path: `tasks/${task}/validation/evidence/${at}` })),
  );
  const missing = tasks.flatMap(({ task_id, validation: { evidence } }, at) =>
    evidence.length > 0
      ? []
      : [
          {
            rule: 'DP19',
            path: `tasks/${at}/validation/evidence`,
            message: `nothing shows that "${task_id}" is done`,
            cure: 'List what its verifier must see, such as the result of a command or a section of a file',
          },
        ],
  );
  const vague = all.flatMap(({ description, path }) => {
    const found = vagueWords.exec(description)?.[0];
    const isUnwritten = findUnwritten(description).length > 0;
    if (!isUnwritten && (found === undefined || measures.test(description))) return [];
    const why = isUnwritten || found === undefined ? '' : `: "${found}" measures nothing`;
    return [
      {
        rule: 'DP20',
        path: `${path}/description`,
        message: `the evidence can't be measured${why}`,
        cure: 'Say what is seen: a number, a command and its exit code, a file and what it contains',
      },
    ];
  });
  const twice = findTwice(all, ({ evidence_id }) => evidence_id).map(({ at, name }) => ({
    rule: 'DP21',
    path: `${all[at]?.path}/evidence_id`,
    message: `two pieces of evidence have the id "${name}"`,
    cure: 'Give one of them another evidence_id',
  }));
  return [...missing, ...vague, ...twice];
}
