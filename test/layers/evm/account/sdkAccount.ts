/**
 * Accounts through ZeroDev's own client library, which asks the chain: the yardstick for what the adapter computes, and
 * the tool of whoever steals the agent's key. The policy is written here a second time, from its ABI.
 */
import { toMultiChainECDSAValidator } from "@zerodev/multi-chain-ecdsa-validator"
import { PolicyFlags, toPermissionValidator } from "@zerodev/permissions"
import { CallPolicyVersion, ParamCondition, toCallPolicy } from "@zerodev/permissions/policies"
import { toECDSASigner } from "@zerodev/permissions/signers"
import { addressToEmptyAccount, createKernelAccount, KernelV3_1AccountAbi } from "@zerodev/sdk"
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  hashTypedData,
  type Hex,
  keccak256,
  type LocalAccount,
  pad,
  toFunctionSelector,
  toHex,
  zeroAddress
} from "viem"
import { entryPoint07Address } from "viem/account-abstraction"
import type { AgentPolicy, TradeGuardPolicy } from "#domain/account/Authorization.ts"
import { agent, type Enrollment, owner, withdrawalDomainName } from "#test/layers/evm/EvmWorld.ts"
import { outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { canonical } from "#sandbox/chain/canonical.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { evmPolicy } from "#layers/evm/address.ts"

export const sdkAccount = {
  entryPoint: { address: entryPoint07Address, version: "0.7" },
  kernelVersion: "0.3.1"
} as const

const word = (address: string) => pad(address as Address, { size: 32 })
const number = (value: number) => toHex(value, { size: 32 })

const executor = canonical.withdrawalExecutor
const settle = "settle((string,address,(address,uint256)[],bytes32,uint256),bytes,address,uint256)"

/** Configuration with which the account is made: the withdrawal executor, with its owner and the name of its domain. */
const initConfig = (accountOwner: Address): Array<Hex> => [
  encodeFunctionData({
    abi: KernelV3_1AccountAbi,
    functionName: "installModule",
    args: [
      2n,
      executor,
      encodePacked(
        ["address", "bytes"],
        [
          zeroAddress,
          encodeAbiParameters(
            [{ type: "bytes" }, { type: "bytes" }],
            [encodePacked(["address", "bytes32"], [accountOwner, keccak256(toHex(withdrawalDomainName))]), "0x"]
          )
        ]
      )
    ]
  })
]

/** The guard as the library takes a policy: what is installed is written here a second time. */
const guardPolicyOf = ({ budgetBps, contract, issuedAt, tradeBps, validUntil }: TradeGuardPolicy) =>
  ({
    getPolicyData: () =>
      encodePacked(["uint40", "uint40", "uint16", "uint16", "uint8"], [issuedAt, validUntil, tradeBps, budgetBps, 0]),
    getPolicyInfoInBytes: () => encodePacked(["bytes2", "address"], ["0x0000", contract as string as Address]),
    policyParams: { type: "custom" }
  }) as unknown as ReturnType<typeof toCallPolicy>

const policyOf = (policy: AgentPolicy, account: Address) => {
  if (policy.guard !== undefined) return guardPolicyOf(policy.guard)
  const router = policy.router as string as Address
  const { bridge, routedSwap } = policy
  const parameters = "(uint256,uint256,address[],address,uint256)"
  const pinned = (length: number) => [
    { condition: ParamCondition.EQUAL, offset: 96, params: [word(account)] },
    { condition: ParamCondition.EQUAL, offset: 64, params: [number(160)] },
    { condition: ParamCondition.EQUAL, offset: 160, params: [number(length)] }
  ]
  const listed = (offset: number, tokens: ReadonlyArray<string>) => ({
    condition: ParamCondition.ONE_OF,
    offset,
    params: tokens.map(word)
  })
  return toCallPolicy({
    policyVersion: CallPolicyVersion.V0_0_4,
    permissions: [
      {
        target: zeroAddress,
        selector: toFunctionSelector("approve(address,uint256)"),
        rules: [
          listed(0, [
            policy.router,
            ...(bridge === undefined ? [] : [bridge.contract]),
            ...(routedSwap === undefined ? [] : [routedSwap])
          ])
        ]
      },
      {
        target: router,
        selector: toFunctionSelector(`swapExactTokensForTokens${parameters}`),
        rules: [...pinned(2), listed(224, policy.tokens)]
      },
      {
        target: router,
        selector: toFunctionSelector(`swapExactTokensForTokensSupportingFeeOnTransferTokens${parameters}`),
        rules: [...pinned(3), listed(224, policy.connectorTokens), listed(256, policy.tokens)]
      },
      { target: executor, selector: toFunctionSelector(settle), rules: [] },
      ...(bridge === undefined
        ? []
        : [
            {
              target: bridge.contract as string as Address,
              selector: toFunctionSelector(
                "deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
              ),
              rules: [
                { condition: ParamCondition.EQUAL, offset: 0, params: [word(account)] },
                { condition: ParamCondition.EQUAL, offset: 32, params: [word(account)] },
                { condition: ParamCondition.EQUAL, offset: 64, params: [word(bridge.token)] },
                listed(
                  96,
                  bridge.destinations.map((destination) => destination.token)
                ),
                {
                  condition: ParamCondition.ONE_OF,
                  offset: 192,
                  params: bridge.destinations.map(({ chainId }) => number(chainId))
                },
                { condition: ParamCondition.EQUAL, offset: 224, params: [number(0)] },
                { condition: ParamCondition.EQUAL, offset: 320, params: [number(0)] },
                { condition: ParamCondition.EQUAL, offset: 352, params: [number(384)] },
                { condition: ParamCondition.EQUAL, offset: 384, params: [number(0)] }
              ]
            }
          ]),
      ...(routedSwap === undefined
        ? []
        : [
            {
              target: routedSwap as string as Address,
              selector: toFunctionSelector("swap((address,uint256,address,uint256,address,uint256),bytes)"),
              rules: [listed(64, policy.tokens), listed(128, [zeroAddress, ...policy.connectorTokens])]
            }
          ])
    ]
  })
}

/** The owner's own account, as its wallet would build it. */
export const ownersAccount = async (chain: Chain, signer: LocalAccount, index: bigint) =>
  createKernelAccount(chain.client, {
    ...sdkAccount,
    index,
    initConfig: initConfig(signer.address),
    plugins: { sudo: await rootOwner(chain, signer) }
  })

export const rootOwner = (chain: Chain, signer: LocalAccount) =>
  toMultiChainECDSAValidator(chain.client, { signer, ...sdkAccount })

/** The account as the holder of the agent's key sees it. */
export const agentAccount = async (
  chain: Chain,
  { account, authorization }: Enrollment,
  options: { readonly enableSignature?: Hex; readonly policy?: Partial<AgentPolicy> } = {}
) => {
  const authorized = authorization.chains.find(({ chainId }) => chainId === chain.chainId)!
  const { permissionId } = authorized
  const address = account as string as Address
  const regular = await toPermissionValidator(chain.client, {
    ...sdkAccount,
    signer: await toECDSASigner({ signer: agent }),
    policies: [policyOf({ ...evmPolicy(authorized), ...options.policy }, address)],
    flag: PolicyFlags.NOT_FOR_VALIDATE_SIG,
    permissionId: permissionId as Hex
  })
  return createKernelAccount(chain.client, {
    ...sdkAccount,
    address,
    index: authorization.accountIndex,
    initConfig: initConfig(owner.address),
    plugins: {
      sudo: await rootOwner(chain, addressToEmptyAccount(owner.address)),
      regular,
      ...(options.enableSignature === undefined ? {} : { pluginEnableSignature: options.enableSignature })
    }
  })
}

/** The digest of the permission's `Enable` message, with the nonce that the account has on chain. */
export const enableDigestOf = async (chain: Chain, enrollment: Enrollment): Promise<Hex> => {
  const { kernelPluginManager } = await agentAccount(chain, enrollment)
  return hashTypedData(await kernelPluginManager.getPluginsEnableTypedData(enrollment.account as string as Address))
}

/** The owner's own operation that calls the account itself. */
const callOwnAccount = async (
  chain: Chain,
  { index, signer }: { readonly signer: LocalAccount; readonly index: bigint },
  data: Hex
): Promise<void> => {
  const account = await ownersAccount(chain, signer, index)
  const callData = await account.encodeCalls([{ to: account.address, data }])
  const answer = outcomeOf(await submitAlone(chain, account, callData))
  if (answer !== "included") throw new Error(`The owner's revocation was refused: ${answer}`)
}

/** Makes every permission and every unused `Enable` signature of the account void. */
export const revokeAll = (chain: Chain, signer: LocalAccount, index: bigint): Promise<void> =>
  callOwnAccount(
    chain,
    { signer, index },
    encodeFunctionData({ abi: KernelV3_1AccountAbi, functionName: "invalidateNonce", args: [2] })
  )

/** Takes one permission, of one policy and one signer, off the account. */
export const removePermission = (
  chain: Chain,
  { index, signer }: { readonly signer: LocalAccount; readonly index: bigint },
  permissionId: Hex
): Promise<void> =>
  callOwnAccount(
    chain,
    { signer, index },
    encodeFunctionData({
      abi: KernelV3_1AccountAbi,
      functionName: "uninstallValidation",
      args: [
        pad(concatHex(["0x02", permissionId]), { size: 21, dir: "right" }),
        encodeAbiParameters([{ type: "bytes[]" }], [["0x", "0x"]]),
        "0x"
      ]
    })
  )
