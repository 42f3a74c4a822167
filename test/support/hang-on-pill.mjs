/**
 * Loaded into a worker process before its own code: a search for secrets in a text that contains `HANG_ON` runs a
 * regular expression that practically never ends, as the redactor once did. Only a text with a hint of a secret, such as
 * `npm_`, is searched. With `HANG_BY=waiting` it waits instead, which leaves the processor to the other tests.
 */
const pill = process.env.HANG_ON ?? 'PILL-OF-TOMORROW';
const hang =
  process.env.HANG_BY === 'waiting'
    ? () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_600_000)
    : () => /^(?:\s[A-Z]: .{0,200})*z/.test(`${' A: '.repeat(60)}!`);
const usual = Object.getOwnPropertyDescriptor(String.prototype, 'matchAll');

// oxlint-disable-next-line no-extend-native
Object.defineProperty(String.prototype, 'matchAll', {
  ...usual,
  value: function matchAllOrHang(pattern) {
    if (this.includes(pill)) hang();
    return Reflect.apply(usual.value, this, [pattern]);
  },
});
