export { render, createContext } from "preact";
export { useState, useEffect, useRef, useMemo, useContext } from "preact/hooks";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
