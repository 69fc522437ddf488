/** An enrolled user whose wallet is a real key, with holdings, and what it takes to withdraw them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AssetId } from "#domain/values/Caip.ts"
import { newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { newWallet, signTypedData, type Wallet } from "#test/api/support/wallets.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"

/** What every withdrawing user holds on Base, and on Arbitrum. */
export const holdings: ReadonlyArray<readonly [AssetId, bigint]> = [
  [baseUsdc.assetId, 1_500_500_000n],
  [baseWeth.assetId, 10n ** 18n]
]

export const recipientOn = (chainId: number) => `eip155:${chainId}:0x8617E340B3D01FA5F11F306F4090FD50E238070D`

export const setBalance = Effect.fnUntraced(function* (account: string, assetId: string, raw: bigint) {
  const environment = yield* TestEnvironment
  environment.balances = new Map([...environment.balances, [`${account} ${assetId}`, raw]])
})

export const enrolled = Effect.fnUntraced(function* (changes: Record<string, unknown> = {}) {
  const { call } = yield* Api
  const actor = yield* newTenant()
  const wallet = newWallet()
  const strategyId = yield* newStrategy(actor)
  const body = { ...(yield* prepare(actor, strategyId, `eip155:0:${wallet.address}`)), ...changes }
  const answer = yield* call("POST", "/v2/enroll", { key: actor.key, body })
  assert.strictEqual(answer.status, 201, answer.text)
  const { portfolioId, smartAccounts } = answer.json.data
  const [base, arbitrum] = smartAccounts.map(({ accountId }: { readonly accountId: string }) => accountId)
  for (const [assetId, raw] of holdings) yield* setBalance(base, assetId, raw)
  yield* setBalance(arbitrum, arbUsdc.assetId, 700_000_000n)
  return { ...actor, wallet, strategyId, portfolioId, base, arbitrum } as Withdrawer
})

export interface Withdrawer extends Effect.Success<ReturnType<typeof newTenant>> {
  readonly wallet: Wallet
  readonly strategyId: string
  readonly portfolioId: string
  /** Its smart accounts. */
  readonly base: string
  readonly arbitrum: string
}

/** Gives the portfolio an account on a chain of which nobody maintains a USDC. */
export const activateChain56 = Effect.fnUntraced(function* ({ base, portfolioId }: Withdrawer) {
  const sql = yield* SqlClient.SqlClient
  const accountId = base.replace("8453", "56")
  yield* sql`
    INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
    SELECT portfolio_id, 2, jsonb_set(jsonb_set(authorization_document, '{chains,0,chainId}', '56'),
      '{chains,0,accountId}', to_jsonb(${accountId}::text)), owner_signature, granted_at
    FROM grants WHERE portfolio_id = ${portfolioId}`
})

/** The body of stage 1 for all of the user's dollars on Base. */
export const request = {
  recipientAccountId: recipientOn(8453),
  assets: [{ assetId: baseUsdc.assetId as string, amountRaw: "1500500000" }]
}

export const post = Effect.fnUntraced(function* ({ key, portfolioId }: Withdrawer, route: string, body: unknown) {
  return yield* (yield* Api).call("POST", `/v2/portfolios/${portfolioId}/${route}`, { key, body })
})

/** Stage 1; answers what it issued. */
export const issue = Effect.fnUntraced(function* (
  user: Withdrawer,
  changes: Record<string, unknown> = {},
  route: "withdraw" | "liquidate-all" = "withdraw"
) {
  const body = route === "withdraw" ? { ...request, ...changes } : { recipientAccountId: recipientOn(8453), ...changes }
  const answer = yield* post(user, `${route}/signature`, body)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data
})

/** Stage 1 and the wallet's signature over exactly what it issued: the body of stage 2. */
export const signedBody = Effect.fnUntraced(function* (
  user: Withdrawer,
  changes: Record<string, unknown> = {},
  route: "withdraw" | "liquidate-all" = "withdraw"
) {
  const { typedData } = yield* issue(user, changes, route)
  const signature = yield* Effect.promise(() => signTypedData(user.wallet, typedData))
  return { message: typedData.message, signature }
})

/** Signs a message that stage 1 did not issue, in the form in which it would have. */
export const signMessage = Effect.fnUntraced(function* (user: Withdrawer, changes: Record<string, unknown>) {
  const { typedData } = yield* issue(user)
  const changed = { ...typedData, message: { ...typedData.message, ...changes } }
  const signature = yield* Effect.promise(() => signTypedData(user.wallet, changed))
  return { message: changed.message, signature }
})

/** How many rows withdrawals have left, in every table that they write. */
export const rowsOf = Effect.fnUntraced(function* (portfolioId: string) {
  const sql = yield* SqlClient.SqlClient
  const [counts] = yield* sql<{ readonly claims: number; readonly withdrawals: number; readonly operations: number }>`
    SELECT (SELECT count(*)::int FROM withdrawal_claims c JOIN portfolios p ON p.tenant_id = c.tenant_id
    WHERE p.portfolio_id = ${portfolioId}) AS claims,
      (SELECT count(*)::int FROM withdrawals WHERE portfolio_id = ${portfolioId}) AS withdrawals,
      (SELECT count(*)::int FROM operations WHERE portfolio_id = ${portfolioId}) AS operations`
  return counts
})
