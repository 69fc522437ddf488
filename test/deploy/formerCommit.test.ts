/** A new migration is tried with the code before it, whatever its history is. */
import { assert, describe, it } from "@effect/vitest"
import { formerOf } from "#test/deploy/support/formerCommit.ts"

const commit = (id: string, ...migrations: ReadonlyArray<string>) => ({ id, migrations })
const baseline = ["a 0001_identity.ts", "b 0002_request.ts"]

describe("the code that an upgrade is tried from", () => {
  it("is this tree's while there is no migration after the baseline", () =>
    assert.strictEqual(
      formerOf([
        commit("now", ...baseline),
        commit("before", ...baseline),
        commit("another baseline", "c 0001_tenants.ts"),
        commit("none")
      ]).id,
      "now"
    ))

  it("is the latest without the new migration", () =>
    assert.strictEqual(
      formerOf([
        commit("now", ...baseline, "c 0003_relay_ceilings.ts"),
        commit("with it", ...baseline, "c 0003_relay_ceilings.ts"),
        commit("another draft of it", ...baseline, "d 0003_relay_ceilings.ts"),
        commit("before", ...baseline),
        commit("long before", ...baseline.slice(0, 1))
      ]).id,
      "before"
    ))
})
