import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Says whether a connection to this IP address (text form, no brackets) may be opened. */
export type AddressPolicy = (address: string) => boolean;

/** IPv6 addresses that are handed out for the public internet; all else is special or embeds an IPv4 address. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Services of clouds that answer a machine's own secrets, outside of the link-local range. */
const METADATA_ADDRESSES = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254']);

/**
 * True for public unicast alone: no loopback, private, link-local, shared (100.64/10), multicast, reserved or
 * documentation range, no metadata service, and no IPv6 form that carries an IPv4 address (mapped, compatible,
 * NAT64, 6to4, Teredo), since what is behind it is decided elsewhere.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST_V6);
  return !METADATA_ADDRESSES.has(parsed.toString());
}

/**
 * The strict policy: public, and not an address of this machine itself. Services that listen on every interface
 * trust those who reach them from inside.
 */
export function isForeignPublicAddress(address: string): boolean {
  return isPublicAddress(address) && !isOwnAddress(address);
}

const OWN_NETWORK_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/**
 * What the owner of the installation may name besides the public internet: this machine and the private network it
 * is in. Never link-local addresses or a metadata service, which answer secrets of the machine itself.
 */
export function isOwnersAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (METADATA_ADDRESSES.has(parsed.toString())) return false;
  return isPublicAddress(address) || OWN_NETWORK_RANGES.has(parsed.range());
}

function isOwnAddress(address: string): boolean {
  const wanted = ipaddr.parse(address).toNormalizedString();
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some((own) => ipaddr.parse(own.address).toNormalizedString() === wanted);
}
