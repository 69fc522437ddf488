/** The peer's check of API keys: the service's hash, rules and memory, written the way one does around pg. */
import { createHmac, createSecretKey } from "node:crypto"
import type { Pool } from "pg"

const maxRemembered = 10_000

interface KeyRow {
  readonly api_key_id: string
  readonly tenant_id: string
  readonly name: string
  readonly email: string
  readonly scopes: ReadonlyArray<string>
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly disabled_at: Date | null
}

const findKey = `
  SELECT k.api_key_id, k.tenant_id, t.name, t.email, k.scopes, k.expires_at, k.revoked_at, t.disabled_at
  FROM api_keys k JOIN tenants t ON t.tenant_id = k.tenant_id
  WHERE k.hash = $1`

/** Whom a key belongs to. */
export interface Caller {
  readonly tenantId: string
  readonly tenantName: string
  readonly tenantEmail: string
  readonly apiKeyId: string
  readonly scopes: ReadonlyArray<string>
}

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

const refusal = (row: KeyRow | undefined, scope: string | null): Refusal | undefined => {
  if (row === undefined || row.revoked_at !== null) return { status: 401, code: "API_102", message: "Unknown API key" }
  const now = performance.timeOrigin + performance.now()
  if (row.expires_at !== null && row.expires_at.getTime() <= now) {
    return { status: 401, code: "API_103", message: "The API key has expired" }
  }
  if (row.disabled_at !== null) return { status: 403, code: "API_106", message: "The tenant is disabled" }
  return scope === null || row.scopes.includes(scope)
    ? undefined
    : { status: 403, code: "API_104", message: `The key lacks ${scope}` }
}

const callerOf = (row: KeyRow): Caller => ({
  tenantId: row.tenant_id,
  tenantName: row.name,
  tenantEmail: row.email,
  apiKeyId: row.api_key_id,
  scopes: row.scopes
})

/**
 * Gives the caller of a secret whose key has the scope, or why it is refused; a null scope is had by every valid key.
 * 0 seconds remembers nothing.
 */
export const makeKeys = (pool: Pool, pepper: string, rememberForSeconds: number) => {
  const key = createSecretKey(pepper, "utf8")
  const known = new Map<string, { readonly row: KeyRow; readonly until: number }>()

  const find = async (secret: string): Promise<KeyRow | undefined> => {
    const hash = createHmac("sha256", key).update(secret, "utf8").digest()
    if (rememberForSeconds === 0) return ask(hash)
    const name = hash.toString("hex")
    const remembered = known.get(name)
    if (remembered !== undefined && remembered.until > performance.now()) return remembered.row
    const row = await ask(hash)
    if (row !== undefined) {
      if (known.size >= maxRemembered) known.clear()
      known.set(name, { row, until: performance.now() + rememberForSeconds * 1_000 })
    }
    return row
  }

  const ask = async (hash: Buffer) =>
    (await pool.query<KeyRow>({ name: "find-key", text: findKey, values: [hash] })).rows[0]

  return async (secret: string, scope: string | null): Promise<Caller | { readonly refused: Refusal }> => {
    const row = await find(secret)
    const refused = refusal(row, scope)
    return refused === undefined ? callerOf(row!) : { refused }
  }
}
