import { createHmac } from "node:crypto"
import type { Pool } from "pg"
import { describe, expect, it } from "vitest"
import { makeKeys } from "#bench/peers/keys.ts"

const pepper = "p".repeat(32)
const row = {
  api_key_id: "key_1",
  tenant_id: "tn_1",
  name: "Northwind",
  email: "ops@northwind.example",
  scopes: ["portfolios:read"],
  expires_at: null,
  revoked_at: null,
  disabled_at: null
}

/** A pool with one key, whose secret is `good`; counts how often it was asked. */
const poolWith = (key: object) => {
  const good = createHmac("sha256", pepper).update("good").digest()
  let asked = 0
  const pool = {
    query: ({ values }: { readonly values: ReadonlyArray<Buffer> }) => {
      asked += 1
      return Promise.resolve({ rows: good.equals(values[0]!) ? [key] : [] })
    }
  }
  return { pool: pool as unknown as Pool, asked: () => asked }
}

const status = async (key: object, secret = "good", scope: string | null = "portfolios:read") => {
  const answer = await makeKeys(poolWith(key).pool, pepper, 0)(secret, scope)
  return "refused" in answer ? answer.refused.status : answer.tenantId
}

describe("the peer's key check does what the service's does", () => {
  it("accepts a live key with the scope", async () => expect(await status(row)).toBe("tn_1"))
  it("accepts any live key where no scope is asked for", async () => {
    expect(await status(row, "good", null)).toBe("tn_1")
    expect(await status({ ...row, revoked_at: new Date(0) }, "good", null)).toBe(401)
  })
  it("refuses an unknown key", async () => expect(await status(row, "bad")).toBe(401))
  it("refuses a revoked key", async () => expect(await status({ ...row, revoked_at: new Date(0) })).toBe(401))
  it("refuses an expired key", async () => expect(await status({ ...row, expires_at: new Date(0) })).toBe(401))
  it("refuses a disabled tenant", async () => expect(await status({ ...row, disabled_at: new Date(0) })).toBe(403))
  it("refuses a key without the scope", async () => expect(await status(row, "good", "portfolios:write")).toBe(403))

  it("asks the database each time, or once while it remembers", async () => {
    const forgetful = poolWith(row)
    const check = makeKeys(forgetful.pool, pepper, 0)
    await check("good", "portfolios:read")
    await check("good", "portfolios:read")
    expect(forgetful.asked()).toBe(2)

    const mindful = poolWith(row)
    const remembering = makeKeys(mindful.pool, pepper, 5)
    await remembering("good", "portfolios:read")
    await remembering("good", "portfolios:read")
    expect(mindful.asked()).toBe(1)
  })
})
