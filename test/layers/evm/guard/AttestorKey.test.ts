/** The attestor's key is exchanged on a chain as docs/operations.md describes it: announced, waited for, executed. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeFunctionData, getAddress, parseAbi } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { operator } from "#sandbox/chain/canonical.ts"
import { setChainTime, startChain } from "#sandbox/chain/Chain.ts"
import { operate } from "#sandbox/chain/operate.ts"

const abi = parseAbi([
  "function attestor() view returns (address)",
  "function schedule(bytes call)",
  "function setKeys(address administrator, address guardian, address attestor)"
])
const twoDays = 2 * 86_400_000
const newKey = () => privateKeyToAccount(generatePrivateKey()).address

it.live("a guard accepts the next attestor's key two days after it was announced, and the one before until then", () =>
  Effect.gen(function* () {
    const [former, next] = [newKey(), newKey()]
    const chain = yield* startChain({ chainId: 8453, attestor: former })
    const { client, contracts } = chain
    const accepted = Effect.promise(() =>
      client.readContract({ address: contracts.guard, abi, functionName: "attestor" })
    )
    const change = encodeFunctionData({ abi, functionName: "setKeys", args: [operator, operator, next] })
    const announce = encodeFunctionData({ abi, functionName: "schedule", args: [change] })
    const execute = operate(client, { what: "setKeys", to: contracts.guard, data: change })

    assert.strictEqual(getAddress(yield* accepted), former)
    yield* Effect.flip(execute)
    yield* operate(client, { what: "schedule", to: contracts.guard, data: announce })
    yield* Effect.flip(execute)
    const announcedAt = Number((yield* Effect.promise(() => client.getBlock())).timestamp) * 1000
    yield* setChainTime(client, announcedAt + twoDays - 60_000)
    yield* Effect.flip(execute)
    assert.strictEqual(getAddress(yield* accepted), former)
    yield* setChainTime(client, announcedAt + twoDays + 60_000)
    yield* execute
    assert.strictEqual(getAddress(yield* accepted), next)
    yield* Effect.flip(execute)
  }).pipe(Effect.scoped)
)
