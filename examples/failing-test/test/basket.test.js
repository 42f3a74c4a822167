import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { priceOf, totalOf } from '../src/basket.js';

test('a line costs its price for each piece, less the discount', () => {
  equal(priceOf({ price: 250, count: 2 }, 100), 400);
});

test('a basket costs what its lines cost together', () => {
  equal(totalOf([]), 0);
  const lines = [
    { price: 250, count: 2 },
    { price: 99, count: 1 },
  ];
  equal(totalOf(lines), 599);
});
