import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

type Family = 'ipv4' | 'ipv6';

/** Networks that no page is on: loopback, private, link-local, metadata, documentation, multicast, reserved. */
const closed4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // The metadata service of Azure is at a public address.
  ['168.63.129.16', 32],
];

/** Parts of 2000::/3 that embed an IPv4 address or are no hosts: Teredo, ORCHID, documentation, 6to4. */
const closed6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const denied = listOf(closed4, 'ipv4', listOf(closed6, 'ipv6', new BlockList()));

/** Only 2000::/3 is handed out. All else is closed: loopback, local, mapped and translated (NAT64) addresses among it. */
const handedOut = listOf([['2000::', 3]], 'ipv6', new BlockList());

function listOf(
  networks: readonly (readonly [string, number])[],
  family: Family,
  list: BlockList,
): BlockList {
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
}

/** Returns true for an address on the public internet that is none of this machine's own. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (family === 'ipv6' && !handedOut.check(address, family)) return false;
  return !denied.check(address, family) && !isOwn(address);
}

function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => one.address.toLowerCase() === address.toLowerCase()),
  );
}
