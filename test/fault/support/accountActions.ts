/** What an owner and an integrator may ask for on one account, drawn by a seed and sent to any process of a world. */
import { assert } from "vitest"
import { type Address, encodeFunctionData, erc20Abi, type Hex } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { Random } from "#test/simulation/harness/Random.ts"
import { actingChain, type ActingOwner, backendQuote, submitAction, tokenAddress } from "#test/support/actingOwner.ts"
import { tokenBalance } from "#test/support/journey.ts"
import type { World } from "#test/support/World.ts"

/** An action before it is asked for. Amounts are of USDC, raw. */
export type Drawn =
  | { readonly kind: "swap"; readonly amount: bigint }
  | { readonly kind: "call"; readonly allowance: bigint }
  | { readonly kind: "withdrawal"; readonly amount: bigint }
  | { readonly kind: "rebalance" }

/** Draws as many actions as asked, of which no two have one amount; the fourth is a rebalance where there is one. */
export const drawActions = ({ count, rebalances, seed }: Drawing): ReadonlyArray<Drawn> => {
  const random = new Random(seed)
  const swap = (index: number): Drawn => ({
    kind: "swap",
    amount: BigInt(random.between(20, 250)) * 1_000_000n + BigInt(index)
  })
  const call = (index: number): Drawn => ({ kind: "call", allowance: BigInt(index + 1) })
  const withdrawal = (index: number): Drawn => ({
    kind: "withdrawal",
    amount: BigInt(random.between(5, 100)) * 1_000_000n + BigInt(index)
  })
  const kinds = [swap, call, withdrawal]
  return Array.from({ length: count }, (_, index) =>
    index === kinds.length && rebalances
      ? { kind: "rebalance" }
      : (kinds[index] ?? kinds[random.between(0, kinds.length - 1)]!)(index)
  )
}

/** The set of actions of a seed. */
export interface Drawing {
  readonly seed: number
  readonly count: number
  readonly rebalances: boolean
}

/** An action that is ready to be sent, by one request. */
export interface Ready {
  readonly drawn: Drawn
  /** Sends it to a process; answers its operation. */
  readonly send: (world: World) => Promise<string>
  /** How much of the withdrawal its recipient has; null of what is no withdrawal. */
  readonly delivered: () => Promise<bigint | null>
}

const dataOf = ({ body, status }: { readonly body: any; readonly status: number }, expected: number) => {
  assert.strictEqual(status, expected, JSON.stringify(body))
  return body.data
}

interface Acting {
  readonly owner: ActingOwner
  /** Whom calls let spend dollars of the account. */
  readonly spender: string
}

/** Prepares what needs an answer first: what an owner signs. */
export const prepared = async (world: World, { owner, spender }: Acting, drawn: Drawn): Promise<Ready> => {
  const path = `/v2/portfolios/${owner.portfolioId}`
  const none = async () => null
  switch (drawn.kind) {
    case "swap":
      return {
        drawn,
        delivered: none,
        send: async (to) => {
          const order = backendQuote(to, owner, { fromAmount: `${drawn.amount}` })
          const { body, status } = await submitAction(to, order, owner.token)
          assert.strictEqual(status, 200, JSON.stringify(body))
          return body.result.data.operationId
        }
      }
    case "call": {
      const args = [spender as Address, drawn.allowance] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args })
      const params = { calls: { to: tokenAddress(world, "USDC"), data }, nonce: `n${drawn.allowance}` }
      return {
        drawn,
        delivered: none,
        send: async (to) => {
          const body = { chainId: `${actingChain}`, params }
          return dataOf(await to.api("POST", `/portfolio/${owner.portfolioId}/execute`, body), 200).executionId
        }
      }
    }
    case "withdrawal": {
      const recipient = privateKeyToAddress(generatePrivateKey())
      const { assetId } = world.asset(actingChain, "USDC")
      const recipientAccountId = `eip155:${actingChain}:${recipient}`
      const asked = { recipientAccountId, assets: [{ assetId, amountRaw: `${drawn.amount}` }] }
      const { typedData } = dataOf(await world.api("POST", `${path}/withdraw/signature`, asked), 200)
      const body = { message: typedData.message, signature: (await owner.signTypedData(typedData)) as Hex }
      return {
        drawn,
        delivered: () => tokenBalance(world, assetId, recipient),
        send: async (to) => dataOf(await to.api("POST", `${path}/withdraw`, body), 202).operationId
      }
    }
    case "rebalance":
      return {
        drawn,
        delivered: none,
        send: async (to) => dataOf(await to.api("POST", `${path}/rebalance`), 202).operationId
      }
  }
}
