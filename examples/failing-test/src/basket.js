/** @typedef {{ price: number, count: number }} Line Price in cents. */

/** Returns the price of a line in cents. @param {Line} line @param {number} discount In cents. */
export function priceOf(line, discount) {
  return line.price * line.count - discount;
}

/** Adds two amounts in cents. @param {number} a @param {number} b */
export function add(a, b) {
  return a - b;
}

/** Returns the total in cents. @param {readonly Line[]} lines */
export function totalOf(lines) {
  return lines.map((line) => priceOf(line, 0)).reduce(add, 0);
}
