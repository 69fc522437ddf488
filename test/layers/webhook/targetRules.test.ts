/** Which addresses count as hosts of the internet, and which URLs are taken. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isAllowedAddress, refusalOf } from "#layers/webhook/targetRules.ts"

/** One of each kind that is no host of the internet. */
const refused: Readonly<Record<string, ReadonlyArray<string>>> = {
  "this network": ["0.0.0.0", "0.1.2.3", "::"],
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
  "link-local, the metadata service of clouds among them": ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1"],
  "platforms and metadata services of clouds": [
    "168.63.129.16",
    "::ffff:168.63.129.16",
    "::ffff:a83f:8110",
    "64:ff9b::a83f:8110",
    "2002:a83f:8110::1",
    "169.254.170.2",
    "169.254.42.42",
    "169.254.0.23",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::a9fe:a9fe"
  ],
  "anycast within networks": ["192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1"],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  broadcast: ["255.255.255.255"],
  reserved: ["192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "240.0.0.1"],
  "IPv4 within IPv6": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1"],
  NAT64: ["64:ff9b::7f00:1", "64:ff9b:1::a00:1"],
  "6to4 and Teredo": ["2002:7f00:1::1", "2001::1", "2001:0:7f00:1::"],
  "documentation and discard": ["2001:db8::1", "3fff::1", "100::1"],
  "no address": ["", "localhost", "256.1.1.1", "1.2.3.4%1"]
}

describe("addresses", () => {
  for (const [kind, addresses] of Object.entries(refused))
    it(`refuses ${kind}`, () =>
      assert.deepStrictEqual(
        addresses.filter((address) => isAllowedAddress(address, "public")),
        []
      ))

  it("takes hosts of the internet, written either way", () => {
    for (const address of ["1.1.1.1", "93.184.216.34", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::8a"])
      assert.isTrue(isAllowedAddress(address, "public"), address)
  })

  it("for development takes the machine's own besides, and no other", () => {
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      assert.isTrue(isAllowedAddress(address, "loopback"), address)
    for (const [kind, addresses] of Object.entries(refused))
      if (kind !== "loopback" && kind !== "IPv4 within IPv6")
        for (const address of addresses) assert.isFalse(isAllowedAddress(address, "loopback"), address)
  })

  it("refuses every IPv4 address of a private range in every form of it within IPv6", () =>
    fc.assert(
      fc.property(
        fc.constantFrom([10, 0], [127, 0], [169, 254], [172, 16], [192, 168], [100, 64]),
        fc.nat(255),
        fc.nat(255),
        ([a, b], c, d) => {
          const hex = (high: number, low: number) => ((high << 8) | low).toString(16)
          const [first, second] = [hex(a!, b!), hex(c, d)]
          for (const address of [
            `${a}.${b}.${c}.${d}`,
            `::ffff:${first}:${second}`,
            `::${first}:${second}`,
            `64:ff9b::${first}:${second}`,
            `2002:${first}:${second}::1`
          ])
            assert.isFalse(isAllowedAddress(address, "public"), address)
        }
      )
    ))
})

describe("URLs of webhooks", () => {
  const takes = (url: string, targets: "public" | "loopback" = "public") => assert.isNull(refusalOf(url, targets), url)
  const refuses = (url: string, why: RegExp, targets: "public" | "loopback" = "public") =>
    assert.match(refusalOf(url, targets) ?? "taken", why, url)

  it("are https to a host of the internet, on its usual ports", () => {
    takes("https://hooks.example.com/a?b=c")
    takes("https://hooks.example.com:8443/")
    takes("https://1.1.1.1/")
    takes("https://[2606:4700:4700::1111]/")
    refuses("http://hooks.example.com/", /https/u)
    refuses("ftp://hooks.example.com/", /https/u)
    refuses("hooks.example.com", /absolute/u)
    for (const port of [22, 25, 80, 3306, 6379, 9200]) refuses(`https://hooks.example.com:${port}/`, /port/u)
    refuses("https://user:password@hooks.example.com/", /without user name/u)
    refuses("https://user@hooks.example.com/", /without user name/u)
    refuses("https://hooks.example.com/#part", /fragment/u)
  })

  it("are not the machine's own or a private network's, however they are written", () => {
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "10.1.2.3",
      "169.254.169.254",
      "168.63.129.16",
      "0xa83f8110",
      "2822734096",
      "[::ffff:168.63.129.16]",
      "[fd00::1]",
      "localhost",
      "intranet",
      "service.localhost"
    ])
      refuses(`https://${host}/`, /of the internet/u)
  })

  it("for development may be the machine's own, with http and any port, and nothing else more", () => {
    for (const url of ["http://127.0.0.1:4000/", "http://localhost:4000/", "http://[::1]:4000/"]) takes(url, "loopback")
    refuses("http://hooks.example.com/", /https/u, "loopback")
    refuses("http://10.0.0.1/", /https/u, "loopback")
    refuses("https://10.0.0.1/", /of the internet/u, "loopback")
    refuses("https://hooks.example.com:4000/", /port/u, "loopback")
  })
})
