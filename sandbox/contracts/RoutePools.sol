// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Liquidity that only routes reach: one contract with a constant product of every token and a unit of account
/// @notice Cheaper and shallower than the venue's pools, so that routes pay more for small amounts and less for large
/// ones.
contract RoutePools {
    using SafeERC20 for IERC20;

    /// Raw units of the token, and of the unit of account with 18 decimals.
    struct Reserves {
        uint256 token;
        uint256 unit;
    }

    address public immutable OPERATOR;

    /// @dev Kept of every swap, in basis points.
    uint256 private constant FEE = 10;
    uint256 private constant WHOLE = 10_000;

    mapping(address token => Reserves) public reserves;

    error OnlyOperator(address caller);
    error NoPool(address token);

    constructor(address operator) {
        OPERATOR = operator;
    }

    /// @notice Gives tokens their reserves, and thereby their prices.
    function set(address[] calldata tokens, Reserves[] calldata values) external {
        if (msg.sender != OPERATOR) revert OnlyOperator(msg.sender);
        for (uint256 i; i < tokens.length; ++i) reserves[tokens[i]] = values[i];
    }

    function quote(address sell, address buy, uint256 amount) public view returns (uint256 bought) {
        (,, bought) = _amounts(sell, buy, amount);
    }

    /// @notice Sells the caller's tokens; the caller has approved this contract for the amount.
    function swap(address sell, address buy, uint256 amount, address recipient) external returns (uint256 bought) {
        uint256 kept;
        uint256 unit;
        (kept, unit, bought) = _amounts(sell, buy, amount);
        reserves[sell] = Reserves(reserves[sell].token + kept, reserves[sell].unit - unit);
        reserves[buy] = Reserves(reserves[buy].token - bought, reserves[buy].unit + unit);
        IERC20(sell).safeTransferFrom(msg.sender, address(this), amount);
        IERC20(buy).safeTransfer(recipient, bought);
    }

    /// @dev What comes into the pool of the sold token, what passes between both pools, and what leaves the second one.
    function _amounts(address sell, address buy, uint256 amount)
        private
        view
        returns (uint256 kept, uint256 unit, uint256 bought)
    {
        (Reserves memory from, Reserves memory to) = (reserves[sell], reserves[buy]);
        if (from.token == 0) revert NoPool(sell);
        if (to.token == 0 || sell == buy) revert NoPool(buy);
        kept = amount * (WHOLE - FEE) / WHOLE;
        unit = from.unit * kept / (from.token + kept);
        bought = to.token * unit / (to.unit + unit);
    }
}
