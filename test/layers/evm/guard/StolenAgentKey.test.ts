/** Whoever holds the agent's key, and nothing else, gets nowhere: every attempt is refused and no token moves. */
import { assert, describe, layer } from "@effect/vitest"
import { KernelV3_1AccountAbi } from "@zerodev/sdk"
import { Context, Effect, Layer } from "effect"
import {
  type Address,
  concatHex,
  encodeFunctionData,
  erc20Abi,
  hashMessage,
  type Hex,
  pad,
  parseAbi,
  parseEther,
  toHex,
  zeroAddress
} from "viem"
import { routerAbi } from "#layers/evm/contracts.ts"
import { type Chain, setEther, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import {
  agent,
  batchOf,
  type Enrollment,
  enroll,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  quotedSwap,
  stranger
} from "#test/layers/evm/EvmWorld.ts"

const amount = 1_000_000n
const deadline = 10n ** 12n

/** An account with a live permission for USDC, WETH and AERO, some of everything in it, and its thief. */
class Victim extends Context.Service<
  Victim,
  { readonly chain: Chain; readonly enrollment: Enrollment; readonly account: Address }
>()("ballast/test/Victim") {
  static readonly layer = Layer.effect(
    Victim,
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const enrollment = yield* enroll(1n, [[base, "USDC", "WETH", "AERO"]])
      const account = enrollment.account as string as Address
      yield* fund(base, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
      yield* execute(
        batchOf(enrollment, base, [yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: 100_000_000n })])
      )
      yield* setEther(base, account, parseEther("1"))
      return Victim.of({ chain: base, enrollment, account })
    })
  )
}

const addressOf = (chain: Chain, symbol: string) => tokenBySymbol(chain, symbol).address

const approve = (chain: Chain, symbol: string, spender: Address): Call => ({
  to: addressOf(chain, symbol),
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] })
})

const oneHop = "swapExactTokensForTokens"
const twoHops = "swapExactTokensForTokensSupportingFeeOnTransferTokens"

const swap = (
  chain: Chain,
  functionName: typeof oneHop | typeof twoHops,
  { path, to }: { readonly path: ReadonlyArray<Address>; readonly to: Address }
): Call => ({
  to: chain.contracts.router,
  data: encodeFunctionData({ abi: routerAbi, functionName, args: [amount, 0n, path, to, deadline] })
})

/** A swap whose head names an honest path while the router reads another, laid out behind it. */
const hiddenPath = (chain: Chain, account: Address): Call => {
  const honest = swap(chain, oneHop, { path: [addressOf(chain, "USDC"), addressOf(chain, "WETH")], to: account }).data
  const offset = toHex(256, { size: 32 })
  const moved = concatHex([honest.slice(0, 10 + 2 * 64) as Hex, offset, `0x${honest.slice(10 + 3 * 64)}`])
  const path = [toHex(2, { size: 32 }), pad(addressOf(chain, "USDC")), pad(addressOf(chain, "cbBTC"))]
  return { to: chain.contracts.router, data: concatHex([moved, ...path]) }
}

/** What becomes of an operation of the thief, which he submits himself. */
const attempt = (build: (victim: Victim["Service"]) => ReadonlyArray<Call>, callData?: Hex) =>
  Effect.gen(function* () {
    const victim = yield* Victim
    const { chain, enrollment } = victim
    return yield* Effect.promise(async () => {
      const account = await agentAccount(chain, enrollment)
      return outcomeOf(await submitAlone(chain, account, callData ?? (await account.encodeCalls(build(victim)))))
    })
  })

const holdings = Effect.gen(function* () {
  const { account, chain } = yield* Victim
  return yield* Effect.promise(async () => {
    const held = (owner: Address) =>
      Promise.all([
        chain.client.getBalance({ address: owner }),
        ...chain.tokens.map(({ address }) =>
          chain.client.readContract({ address, abi: erc20Abi, functionName: "balanceOf", args: [owner] })
        )
      ])
    const allowances = await Promise.all(
      chain.tokens.map(({ address }) =>
        chain.client.readContract({
          address,
          abi: erc20Abi,
          functionName: "allowance",
          args: [account, stranger.address]
        })
      )
    )
    const [, ...strangersTokens] = await held(stranger.address)
    return [await held(account), strangersTokens, allowances]
  })
})

const executeAs = (mode: Hex, calldata: Hex) =>
  encodeFunctionData({
    abi: KernelV3_1AccountAbi,
    functionName: "execute",
    args: [pad(mode, { size: 32, dir: "right" }), calldata]
  })

const thief = stranger.address

const usdc =
  (encode: (account: Address) => Hex) =>
  ({ account, chain }: Victim["Service"]): ReadonlyArray<Call> => [
    { to: addressOf(chain, "USDC"), data: encode(account) }
  ]

const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [thief, amount] })

const transferFrom = (account: Address) =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [account, thief, amount] })

const increaseAllowance = encodeFunctionData({
  abi: parseAbi(["function increaseAllowance(address,uint256)"]),
  args: [thief, amount]
})

/** An allowed approval, then a sale of USDC along a path of symbols. */
const sale =
  (functionName: typeof oneHop | typeof twoHops, symbols: ReadonlyArray<string>, to?: Address) =>
  ({ account, chain }: Victim["Service"]) => [
    approve(chain, "USDC", chain.contracts.router),
    swap(chain, functionName, {
      path: ["USDC", ...symbols].map((symbol) => addressOf(chain, symbol)),
      to: to ?? account
    })
  ]

const allowed = ({ chain }: Victim["Service"]) => approve(chain, "USDC", chain.contracts.router)

const installModule = ({ account }: Victim["Service"]): Call => ({
  to: account,
  data: encodeFunctionData({ abi: KernelV3_1AccountAbi, functionName: "installModule", args: [2n, thief, "0x"] })
})

const changeRoot = ({ account }: Victim["Service"]): Call => ({
  to: account,
  data: encodeFunctionData({
    abi: KernelV3_1AccountAbi,
    functionName: "changeRootValidator",
    args: [pad("0x01", { size: 21, dir: "right" }), zeroAddress, thief, "0x"]
  })
})

const removeLiquidity = ({ chain }: Victim["Service"]): Call => ({
  to: chain.contracts.router,
  data: encodeFunctionData({
    abi: parseAbi(["function removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)"]),
    args: [addressOf(chain, "USDC"), addressOf(chain, "WETH"), 1n, 0n, 0n, thief, deadline]
  })
})

const attempts: ReadonlyArray<readonly [name: string, build: (victim: Victim["Service"]) => ReadonlyArray<Call>]> = [
  ["transfers a token to himself", usdc(() => transfer)],
  ["pulls a token by transferFrom", usdc(transferFrom)],
  ["approves himself", ({ chain }) => [approve(chain, "USDC", thief)]],
  ["raises an allowance by another function", usdc(() => increaseAllowance)],
  ["swaps to himself", sale(oneHop, ["WETH"], thief)],
  ["swaps into a token that is not listed", sale(oneHop, ["cbBTC"])],
  ["hides the path from the policy", (victim) => [allowed(victim), hiddenPath(victim.chain, victim.account)]],
  ["swaps over two hops by the function of one", sale(oneHop, ["WETH", "AERO"])],
  ["swaps over one hop by the function of two", sale(twoHops, ["WETH"])],
  ["swaps through a token that is no hub", sale(twoHops, ["AERO", "WETH"])],
  ["swaps over a hub into a token that is not listed", sale(twoHops, ["WETH", "cbBTC"])],
  ["swaps over a hub to himself", sale(twoHops, ["WETH", "AERO"], thief)],
  ["swaps over three hops", sale(twoHops, ["WETH", "AERO", "WETH"])],
  ["calls another function of the router", (victim) => [removeLiquidity(victim)]],
  ["swaps on a router of his own", (victim) => sale(oneHop, ["WETH"])(victim).map((call) => ({ ...call, to: thief }))],
  ["sends ether out", () => [{ to: thief, value: 1n, data: "0x" }]],
  ["sends ether along with an allowed call", (victim) => [{ ...allowed(victim), value: 1n }]],
  ["installs a module", (victim) => [installModule(victim)]],
  ["installs a module within a batch", (victim) => [allowed(victim), installModule(victim)]],
  ["changes the root validator", (victim) => [changeRoot(victim)]]
]

describe("A stolen agent key", () => {
  layer(Layer.provideMerge(Victim.layer, EvmWorldLive), { excludeTestServices: true })((it) => {
    it.effect("still makes an honest swap, so that the refusals below mean something", () =>
      Effect.gen(function* () {
        const before = yield* holdings
        assert.strictEqual(yield* attempt(sale(twoHops, ["WETH", "AERO"])), "included")
        assert.notDeepEqual(yield* holdings, before)
      })
    )

    for (const [name, build] of attempts) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const before = yield* holdings
          assert.match(yield* attempt(build), /^AA23/u)
          assert.deepStrictEqual(yield* holdings, before)
        })
      )
    }

    it.effect("calls in another mode", () =>
      Effect.gen(function* () {
        const { chain } = yield* Victim
        const before = yield* holdings
        const single = concatHex([addressOf(chain, "USDC"), toHex(0n, { size: 32 }), transfer])
        const delegated = concatHex([thief, transfer])
        for (const callData of [executeAs("0xff", delegated), executeAs("0x0001", single), executeAs("0xfe", single)]) {
          assert.match(yield* attempt(() => [], callData), /^AA23/u)
        }
        assert.deepStrictEqual(yield* holdings, before)
      })
    )

    it.effect("signs no message in the account's name", () =>
      Effect.gen(function* () {
        const { account, chain, enrollment } = yield* Victim
        const { permissionId } = enrollment.authorization.chains[0]
        const hash = hashMessage("transfer with authorization")
        const wrapped = yield* Effect.promise(() =>
          agent.signTypedData({
            domain: { name: "Kernel", version: "0.3.1", chainId: chain.chainId, verifyingContract: account },
            types: { Kernel: [{ name: "hash", type: "bytes32" }] },
            primaryType: "Kernel",
            message: { hash }
          })
        )
        const plain = yield* Effect.promise(() => agent.signMessage({ message: { raw: hash } }))
        const answerTo = (signature: Hex) =>
          Effect.promise(() =>
            chain.client
              .readContract({
                address: account,
                abi: KernelV3_1AccountAbi,
                functionName: "isValidSignature",
                args: [hash, signature]
              })
              .catch((error: Error) => error.message)
          )
        const asPermission = concatHex(["0x02", permissionId as Hex, "0xff"])
        const asOwner = concatHex(["0x01", chain.contracts.ownerValidator])
        // The account knows the signature's form and the signer; it is the permission's flag that refuses it.
        assert.include(yield* answerTo(concatHex([asPermission, wrapped])), "PermissionNotAlllowedForSignature")
        for (const signature of [wrapped, plain]) {
          for (const prefix of [asPermission, asOwner, "0x00", "0x"] as const) {
            assert.notStrictEqual(yield* answerTo(concatHex([prefix, signature])), "0x1626ba7e")
          }
        }
      })
    )

    it.effect("widens no permission and enables no other", () =>
      Effect.gen(function* () {
        const { chain, enrollment } = yield* Victim
        const other: Enrollment = yield* enroll(enrollment.authorization.accountIndex, [
          [chain, "USDC", "WETH", "AERO", "cbBTC"]
        ])
        const forged = yield* Effect.promise(() =>
          agent.signMessage({ message: { raw: other.authorization.root as Hex } })
        )
        for (const enableSignature of [forged, enrollment.ownerSignature as Hex]) {
          const answer = yield* Effect.promise(async () => {
            const account = await agentAccount(chain, other, { enableSignature })
            const calls = [approve(chain, "USDC", chain.contracts.router)]
            return outcomeOf(await submitAlone(chain, account, await account.encodeCalls(calls)))
          })
          assert.match(answer, /^AA23/u)
        }
        assert.strictEqual(other.account, enrollment.account)
      })
    )
  })
})
