// Types of the part of Preact and htm that the page uses. Not served.

/** Anything that a template can contain: a child, an attribute, a component or an event handler. */
type TemplateValue =
  string | number | boolean | bigint | symbol | object | null | undefined | ((...values: any[]) => any);

export interface VNode {
  type: unknown;
  props: object;
}

export type Children = VNode | string | number | boolean | null | undefined | Children[];
export type Setter<T> = (next: T | ((last: T) => T)) => void;
/** The value of a state and the function that sets it. */
export type StateHook<T> = [T, Setter<T>];
export type Ref<T> = { current: T | undefined };

export interface Context<T> {
  Provider: (props: { value: T; children?: Children }) => VNode;
}

export function html(strings: TemplateStringsArray, ...values: TemplateValue[]): VNode;
export function render(vnode: VNode, parent: Element): void;
export function createContext<T>(value: T): Context<T>;
export function useContext<T>(context: Context<T>): T;
export function useEffect(effect: () => void | (() => void), inputs: readonly unknown[]): void;
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useRef<T>(value?: T): Ref<T>;
export function useState<T>(initial: T | (() => T)): StateHook<T>;
export function useState<T>(): StateHook<T | undefined>;
