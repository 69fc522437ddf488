/**
 * The account contracts of the world do what the real ones do for the client library: one owner signature enables an
 * agent on both chains, the agent trades within its limits, and nothing else passes.
 */
import { assert, layer } from "@effect/vitest"
import { toMultiChainECDSAValidator } from "@zerodev/multi-chain-ecdsa-validator"
import { toPermissionValidator } from "@zerodev/permissions"
import { CallPolicyVersion, ParamCondition, toCallPolicy } from "@zerodev/permissions/policies"
import { PolicyFlags } from "@zerodev/permissions"
import { toECDSASigner } from "@zerodev/permissions/signers"
import { addressToEmptyAccount, createKernelAccount } from "@zerodev/sdk"
import { Context, Effect, Layer } from "effect"
import { MerkleTree } from "merkletreejs"
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  hashTypedData,
  type Hex,
  type LocalAccount,
  keccak256,
  parseAbi,
  parseEther,
  parseEventLogs,
  zeroAddress
} from "viem"
import { entryPoint07Abi, toPackedUserOperation, type UserOperation } from "viem/account-abstraction"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type Chain, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import * as Faucet from "#sandbox/chain/Faucet.ts"

class Chains extends Context.Service<Chains, ReadonlyArray<Chain>>()("ballast/test/Chains") {
  static readonly layer = Layer.effect(
    Chains,
    Effect.all([startChain({ chainId: 8453 }), startChain({ chainId: 42161 })], { concurrency: 2 })
  )
}

const owner = privateKeyToAccount(generatePrivateKey())
const agent = privateKeyToAccount(generatePrivateKey())
const relayer = privateKeyToAccount(generatePrivateKey())
const thief = privateKeyToAccount(generatePrivateKey()).address
const kernelVersion = "0.3.1"
const entryPoint = { address: "0x0000000071727De22E5E9d8BAf0edAc6f37da032", version: "0.7" } as const
const swapAbi = parseAbi([
  "function swapExactTokensForTokens(uint256, uint256, address[], address, uint256) returns (uint256[])"
])

interface Call {
  readonly to: Address
  readonly data: Hex
  readonly value?: bigint
}

const ownerValidator = (chain: Chain, signer: LocalAccount = addressToEmptyAccount(owner.address)) =>
  toMultiChainECDSAValidator(chain.client, { signer, entryPoint, kernelVersion })

const ownerAccount = async (chain: Chain, signer?: typeof owner) =>
  createKernelAccount(chain.client, {
    plugins: { sudo: await ownerValidator(chain, signer) },
    entryPoint,
    kernelVersion
  })

const agentAccount = async (chain: Chain, address: Address, enableSignature?: Hex) => {
  const policy = toCallPolicy({
    policyVersion: CallPolicyVersion.V0_0_4,
    permissions: [
      {
        target: zeroAddress,
        abi: erc20Abi,
        functionName: "approve",
        args: [{ condition: ParamCondition.ONE_OF, value: [chain.contracts.router] }, null]
      },
      {
        target: chain.contracts.router,
        abi: swapAbi,
        functionName: "swapExactTokensForTokens",
        args: [null, null, null, { condition: ParamCondition.EQUAL, value: address }, null]
      }
    ]
  })
  const regular = await toPermissionValidator(chain.client, {
    entryPoint,
    kernelVersion,
    signer: await toECDSASigner({ signer: agent }),
    policies: [policy],
    flag: PolicyFlags.NOT_FOR_VALIDATE_SIG
  })
  return createKernelAccount(chain.client, {
    plugins: {
      sudo: await ownerValidator(chain),
      regular,
      ...(enableSignature === undefined ? {} : { pluginEnableSignature: enableSignature })
    },
    entryPoint,
    kernelVersion,
    address
  })
}

type Account = Awaited<ReturnType<typeof ownerAccount>>

const limits = {
  callGasLimit: 1_200_000n,
  verificationGasLimit: 3_000_000n,
  preVerificationGas: 100_000n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n
}

/** Bundles one operation itself, as a relayer does; answers whether it succeeded, and throws when it is refused. */
const submit = async (chain: Chain, account: Account, calls: ReadonlyArray<Call>) => {
  const deployed = await chain.client.getCode({ address: account.address })
  const operation = {
    sender: account.address,
    nonce: await account.getNonce(),
    ...(deployed === undefined ? await account.getFactoryArgs() : {}),
    callData: await account.encodeCalls(calls),
    ...limits,
    signature: "0x"
  } as UserOperation<"0.7">
  const signature = await account.signUserOperation({ ...operation, chainId: chain.chainId })
  const { request } = await chain.client.simulateContract({
    address: entryPoint.address,
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [[toPackedUserOperation({ ...operation, signature })], relayer.address],
    account: relayer,
    gas: 6_000_000n
  })
  const receipt = await chain.client.waitForTransactionReceipt({ hash: await chain.client.writeContract(request) })
  return parseEventLogs({ abi: entryPoint07Abi, logs: receipt.logs, eventName: "UserOperationEvent" })[0]!.args.success
}

const approve = (chain: Chain, spender: Address, amount: bigint): Call => ({
  to: chain.catalog.usdc.address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] })
})

const swap = (chain: Chain, recipient: Address, amount: bigint): Call => ({
  to: chain.contracts.router,
  data: encodeFunctionData({
    abi: swapAbi,
    functionName: "swapExactTokensForTokens",
    args: [amount, 0n, [chain.catalog.usdc.address, chain.catalog.weth.address], recipient, 10n ** 12n]
  })
})

const transfer = (chain: Chain, recipient: Address, amount: bigint): Call => ({
  to: chain.catalog.usdc.address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] })
})

const balance = (chain: Chain, symbol: string, account: Address) =>
  chain.client.readContract({
    address: tokenBySymbol(chain, symbol).address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [account]
  })

/** Everything of a revert that viem found: the policies' errors come as data inside the EntryPoint's. */
const reasonOf = (error: unknown) =>
  JSON.stringify(error, (_, value) => (typeof value === "bigint" ? `${value}` : value))

layer(Chains.layer)("accounts of the world", (it) => {
  it.effect("are enabled for an agent by one signature over both chains, and keep it within its limits", () =>
    Effect.gen(function* () {
      const chains = yield* Chains
      for (const chain of chains) yield* setEther(chain, relayer.address, parseEther("100"))
      const addresses = yield* Effect.promise(() =>
        Promise.all(chains.map(async (chain) => (await ownerAccount(chain)).address))
      )
      const account = addresses[0]!
      assert.strictEqual(addresses[1], account)
      for (const chain of chains)
        yield* Faucet.mint(chain, account, { token: chain.catalog.usdc, amountRaw: 10_000_000_000n })

      yield* Effect.promise(async () => {
        const digests = await Promise.all(
          chains.map(async (chain) => {
            const { kernelPluginManager } = await agentAccount(chain, account)
            return hashTypedData(await kernelPluginManager.getPluginsEnableTypedData(account))
          })
        )
        const tree = new MerkleTree(digests, keccak256, { sortPairs: true })
        const root = tree.getHexRoot() as Hex
        const signature = await owner.signMessage({ message: { raw: root } })
        const enabling = digests.map((digest) =>
          concatHex([
            signature,
            root,
            encodeAbiParameters([{ type: "bytes32[]" }], [tree.getHexProof(digest) as ReadonlyArray<Hex>])
          ])
        )

        for (const [index, chain] of chains.entries()) {
          const first = await agentAccount(chain, account, enabling[index])
          const amount = 1_000_000_000n
          const trade = [approve(chain, chain.contracts.router, amount), swap(chain, account, amount)]
          assert.isTrue(await submit(chain, first, trade))
          assert.isTrue((await balance(chain, "WETH", account)) > 0n)

          const later = await agentAccount(chain, account, enabling[index])
          assert.isTrue(await submit(chain, later, trade))
          assert.strictEqual(await balance(chain, "USDC", account), 8_000_000_000n)

          for (const [what, calls] of [
            ["transfer to a third party", [transfer(chain, thief, 1n)]],
            ["approval of another spender", [approve(chain, thief, 1n)]],
            ["swap to another recipient", [approve(chain, chain.contracts.router, 1n), swap(chain, thief, 1n)]],
            ["native value", [{ to: thief, data: "0x", value: 1n }]]
          ] as const) {
            const refused = await submit(chain, await agentAccount(chain, account, enabling[index]), calls).then(
              () => undefined,
              (error: unknown) => error
            )
            assert.isDefined(refused, what)
            assert.include(reasonOf(refused), "AA23", what)
          }
          assert.strictEqual(await balance(chain, "USDC", thief), 0n)
        }
      })
    })
  )

  it.effect("obey their owner, and nobody else", () =>
    Effect.gen(function* () {
      const [chain] = yield* Chains
      yield* setEther(chain!, relayer.address, parseEther("100"))
      yield* Effect.promise(async () => {
        const account = await ownerAccount(chain!, owner)
        await Effect.runPromise(Faucet.mint(chain!, account.address, { token: chain!.catalog.usdc, amountRaw: 5n }))
        const before = await balance(chain!, "USDC", owner.address)
        assert.isTrue(await submit(chain!, account, [transfer(chain!, owner.address, 5n)]))
        assert.strictEqual((await balance(chain!, "USDC", owner.address)) - before, 5n)
        const forged = { ...account, signUserOperation: () => agent.signMessage({ message: "not the owner" }) }
        const refused = await submit(chain!, forged as Account, [transfer(chain!, thief, 1n)]).catch(
          (error: unknown) => error
        )
        assert.include(reasonOf(refused), "AA24")
      })
    })
  )
})
