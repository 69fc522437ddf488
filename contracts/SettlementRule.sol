// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {WithdrawalExecutor} from "./WithdrawalExecutor.sol";

/// @title What an agent may make of an owner's liquidating withdrawal
/// @notice The owner signs which assets are sold, how much of each, and who is paid; the withdrawal executor takes
/// token and `keep` by the agent's word. Here they are held to what was signed: the token is one that the registry
/// names for it, and the account keeps what it had of that token before the sales, less what the owner signed of it. So
/// the recipient gets the proceeds of the operation's sales and the signed amount, neither less nor more.
/// @dev Asked while an operation is validated, when none of its calls has been made. Between that and the moment at
/// which the agent read the balance something may have arrived: so much as TOLERANCE may be paid out with the rest.
contract SettlementRule {
    /// @notice Stands for a chain in the registry's lane by which a token may be paid out to owners.
    uint256 public constant PAYOUT_LANE = 0;
    /// @dev A hundredth of what is to be kept, and one whole token.
    uint256 private constant TOLERANCE = 100;

    ILanes public immutable GUARD;

    error NotForPayout(address token);
    error WrongKeep(uint256 keep, uint256 most);

    constructor() {
        GUARD = ILanes(msg.sender);
    }

    /// @notice Reverts unless a call of `settle`, with its selector, is one that the account's agent may make.
    function check(address account, bytes calldata call) external view {
        (WithdrawalExecutor.Authorization memory authorization,, address token, uint256 keep) =
            abi.decode(call[4:], (WithdrawalExecutor.Authorization, bytes, address, uint256));
        uint256 lane = GUARD.lanes(GUARD.laneOf(token, PAYOUT_LANE, GUARD.WITHDRAWALS()));
        if (lane == 0) revert NotForPayout(token);
        uint256 most = IBalance(token).balanceOf(account);
        for (uint256 i; i < authorization.assets.length; ++i) {
            WithdrawalExecutor.Asset memory asset = authorization.assets[i];
            if (asset.token == token) most = most > asset.amount ? most - asset.amount : 0;
        }
        uint256 tolerance = most / TOLERANCE + 10 ** (lane - 1);
        if (keep > most || keep + tolerance < most) revert WrongKeep(keep, most);
    }
}

/// @notice What is read of the guard.
interface ILanes {
    function WITHDRAWALS() external view returns (address);
    function lanes(bytes32 lane) external view returns (uint8);
    function laneOf(address token, uint256 chainId, address remoteToken) external pure returns (bytes32);
}

/// @notice What is read of a token.
interface IBalance {
    function balanceOf(address account) external view returns (uint256);
}
