import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isForeignPublicAddress, isOwnersAddress, isPublicAddress } from './address-policy.ts';

describe('an address that may be connected to', () => {
  it.each([
    '93.184.215.14',
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
  ])('is public IPv4 like %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(['2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '2001:4860:4860::8888'])(
    'is public IPv6 like %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ['this host', '0.0.0.0'],
    ['the zero network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['the end of loopback', '127.255.255.254'],
    ['private 10/8', '10.0.0.5'],
    ['private 172.16/12', '172.31.255.255'],
    ['private 192.168/16', '192.168.1.1'],
    ['shared 100.64/10', '100.64.0.1'],
    ['the end of shared 100.64/10', '100.127.255.255'],
    ['the metadata service in shared space', '100.100.100.200'],
    ['link-local', '169.254.0.1'],
    ['the metadata service', '169.254.169.254'],
    ['the metadata service of containers', '169.254.170.2'],
    ['the metadata service at a public address', '168.63.129.16'],
    ['protocol assignments', '192.0.0.192'],
    ['documentation 1', '192.0.2.1'],
    ['documentation 2', '198.51.100.7'],
    ['documentation 3', '203.0.113.9'],
    ['benchmarking', '198.18.0.1'],
    ['the 6to4 relay', '192.88.99.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 unspecified', '::'],
    ['IPv6 loopback', '::1'],
    ['IPv4-mapped loopback', '::ffff:7f00:1'],
    ['IPv4-mapped loopback, dotted', '::ffff:127.0.0.1'],
    ['IPv4-mapped public', '::ffff:1.1.1.1'],
    ['IPv4-compatible loopback', '::7f00:1'],
    ['IPv4-translated', '::ffff:0:7f00:1'],
    ['NAT64 to the metadata service', '64:ff9b::a9fe:a9fe'],
    ['NAT64 of a local network', '64:ff9b:1::a00:5'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['6to4 of a private address', '2002:a00:5::1'],
    ['Teredo', '2001::a00:5'],
    ['unique local', 'fd00:ec2::254'],
    ['unique local fc00', 'fc00::1'],
    ['IPv6 link-local', 'fe80::1'],
    ['IPv6 link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['IPv6 multicast', 'ff02::1'],
    ['IPv6 documentation', '2001:db8::1'],
    ['IPv6 documentation of 2024', '3fff::1'],
    ['discard-only', '100::1'],
    ['benchmarking of IPv6', '2001:2::1'],
    ['ORCHID', '2001:20::1'],
    ['segment routing', '5f00::1'],
    ['unassigned IPv6', '4000::1'],
    ['no address', 'example.com'],
    ['nothing', ''],
  ])('is not %s (%s)', (_, address) => expect(isPublicAddress(address)).toBe(false));

  it('is not one of this machine, whatever its range', () => {
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address } of own) expect(isForeignPublicAddress(address)).toBe(false);
    expect(isForeignPublicAddress('1.1.1.1')).toBe(true);
  });
});

describe('an address that the owner may name', () => {
  it.each(['127.0.0.1', '::1', '10.0.0.5', '192.168.1.1', '172.16.0.9', '100.64.0.1', 'fd12::1', '1.1.1.1'])(
    'is public, or of the own network, like %s',
    (address) => expect(isOwnersAddress(address)).toBe(true),
  );
  it.each([
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::1',
    '0.0.0.0',
    '224.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    'localhost',
  ])('is not %s', (address) => expect(isOwnersAddress(address)).toBe(false));
});
