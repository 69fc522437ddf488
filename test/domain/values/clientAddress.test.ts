import { assert, describe, it } from "@effect/vitest"
import { clientAddress } from "#domain/values/clientAddress.ts"

describe("clientAddress", () => {
  for (const [remote, counted] of [
    [undefined, "unknown"],
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"]
  ] as const) {
    it(`${remote} counts as ${counted}`, () => assert.strictEqual(clientAddress(remote), counted))
  }
})
