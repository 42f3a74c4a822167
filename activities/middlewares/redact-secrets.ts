import type { Middleware } from '../ports/middleware.ts';
import type { Redactor } from '../ports/redactor.ts';

const mark = /\[redacted:([a-z0-9-]{1,60})\]/g;

/**
 * Says how many secrets a text held, and of what kind. What is kept, sent or shown has none anyway (docs/secrets.md), so
 * by the time it looks marks stand in most of their places; it takes out what is still there.
 */
export function createRedactSecrets(redactor: Pick<Redactor, 'redactText'>): Middleware {
  return {
    name: 'redact-secrets',
    kind: 'middleware',
    stages: ['input', 'output'],
    apply(text) {
      const redacted = redactor.redactText(text, 'middleware');
      const rules = [...redacted.matchAll(mark)].map(([, rule = '']) => rule);
      if (rules.length === 0) return { type: 'pass' };
      const kinds = [...new Set(rules)].toSorted().join(', ');
      const note =
        rules.length === 1
          ? `1 secret was taken out (${kinds})`
          : `${rules.length} secrets were taken out (${kinds})`;
      return { type: 'pass', text: redacted, note };
    },
  };
}
