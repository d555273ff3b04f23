#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, Ident, LitInt, LitStr, Result, Token, Type,
    Variant,
};

/// Derives `Settings` and `Default`.
#[proc_macro_derive(Settings, attributes(setting))]
pub fn settings(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive_settings(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives `Choice`.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive_choice(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn derive_settings(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "settings are fields of a struct"));
    };
    let (mut defaults, mut visits) = (Vec::new(), Vec::new());
    for field in &data.fields {
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "has no name"))?;
        let options = FieldAttribute::read(field)?;
        let default =
            options.default.as_ref().map_or(quote!(Default::default()), Expr::to_token_stream);
        defaults.push(quote!(#name: #default));
        visits.push(options.visit(name, field)?);
    }
    let (name, about) = (&input.ident, about(&input.attrs)?);
    let methods = trait_methods(&input.attrs)?;
    Ok(quote! {
        impl Default for #name {
            fn default() -> Self {
                Self { #(#defaults),* }
            }
        }

        impl ::rtolab_settings::Settings for #name {
            fn about(&self) -> &'static str {
                #about
            }

            #methods

            fn each(&mut self, visit: &mut dyn FnMut(::rtolab_settings::Setting<'_>)) {
                #(#visits)*
            }
        }
    })
}

/// The methods whose functions the attribute `#[setting(..)]` of a struct names.
fn trait_methods(attributes: &[Attribute]) -> Result<TokenStream> {
    let mut methods = TokenStream::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("setting")) {
        attribute.parse_nested_meta(|meta| {
            let (name, function): (_, Expr) = (meta.path.require_ident()?, meta.value()?.parse()?);
            methods.extend(match name.to_string().as_str() {
                "check" => quote! {
                    fn check(&self) -> ::rtolab_settings::CheckResult {
                        #function(self)
                    }
                },
                "check_list" => quote! {
                    fn check_list(items: &[Self]) -> ::rtolab_settings::CheckResult {
                        #function(items)
                    }
                },
                "file" => quote! {
                    fn file(&self) -> ::core::option::Option<::rtolab_settings::NamedFile<'_>> {
                        #function(self)
                    }
                },
                "take_file" => quote! {
                    fn take_file(
                        &mut self,
                        text: &str,
                    ) -> ::core::result::Result<(), ::rtolab_settings::FileError> {
                        #function(self, text)
                    }
                },
                _ => return Err(meta.error("unknown; see the trait `Settings`")),
            });
            Ok(())
        })?;
    }
    Ok(methods)
}

/// The attribute `#[setting(..)]` of a field; the trait `Settings` documents its parts.
#[derive(Default)]
struct FieldAttribute {
    key: Option<LitStr>,
    format: Option<Type>,
    default: Option<Expr>,
    examples: Vec<LitStr>,
    unset: Option<LitStr>,
    tables: Vec<(LitStr, Ident)>,
    kind: Kind,
    open: bool,
    required: bool,
    conflicts_with: Option<TokenStream>,
    min_items: Option<LitInt>,
    max_items: Option<LitInt>,
}

/// How a field appears among the settings.
#[derive(Default, PartialEq)]
enum Kind {
    #[default]
    Value,
    Table,
    List,
    Values,
    Flattened,
    Skipped,
}

impl FieldAttribute {
    fn read(field: &Field) -> Result<Self> {
        let mut options = Self::default();
        for attribute in field.attrs.iter().filter(|attr| attr.path().is_ident("setting")) {
            attribute.parse_nested_meta(|meta| options.parse_meta(&meta))?;
        }
        Ok(options)
    }

    fn parse_meta(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.require_ident()?.to_string();
        match name.as_str() {
            "key" => self.key = Some(meta.value()?.parse()?),
            "format" => self.format = Some(meta.value()?.parse()?),
            "default" => self.default = Some(meta.value()?.parse()?),
            "example" => self.examples.push(meta.value()?.parse()?),
            "unset" => self.unset = Some(meta.value()?.parse()?),
            "tables" => {
                if self.kind == Kind::Value {
                    self.kind = Kind::Skipped;
                }
                meta.parse_nested_meta(|table| {
                    let key = table.path.require_ident()?;
                    let key = LitStr::new(&key.unraw().to_string(), key.span());
                    let field = match table.input.peek(Token![=]) {
                        true => table.value()?.parse()?,
                        false => table.path.require_ident()?.clone(),
                    };
                    self.tables.push((key, field));
                    Ok(())
                })?;
            }
            "required" => self.required = true,
            "conflicts_with" if meta.input.peek(Token![=]) => {
                self.conflicts_with = Some(meta.value()?.parse::<Expr>()?.to_token_stream());
            }
            "conflicts_with" => {
                let mut keys = Vec::new();
                meta.parse_nested_meta(|key| {
                    keys.push(key.path.require_ident()?.unraw().to_string());
                    Ok(())
                })?;
                self.conflicts_with = Some(quote!(&[#(#keys),*]));
            }
            "min_items" => self.min_items = Some(meta.value()?.parse()?),
            "max_items" => self.max_items = Some(meta.value()?.parse()?),
            "table" => self.kind = Kind::Table,
            "list" => self.kind = Kind::List,
            "values" => self.kind = Kind::Values,
            "flatten" => self.kind = Kind::Flattened,
            "skip" => self.kind = Kind::Skipped,
            "open" => self.open = true,
            _ => return Err(meta.error("unknown; see the trait `Settings`")),
        }
        Ok(())
    }

    /// The statements that call `visit` with the settings of the field.
    fn visit(&self, name: &Ident, field: &Field) -> Result<TokenStream> {
        let key = LitStr::new(&name.unraw().to_string(), name.span());
        let key = self.key.as_ref().unwrap_or(&key);
        let about = about(&field.attrs)?;
        let mut tokens = match self.kind {
            Kind::Flattened => quote!(::rtolab_settings::Settings::each(&mut self.#name, visit);),
            Kind::Skipped => TokenStream::new(),
            _ => self.setting(name, &field.ty, (key, &about)),
        };
        for (key, inner) in &self.tables {
            tokens.extend(quote! {
                let table = &mut self.#name.#inner;
                let about = ::rtolab_settings::Settings::about(table);
                visit(::rtolab_settings::Setting::table(#key, about, table));
            });
        }
        Ok(tokens)
    }

    fn setting(&self, name: &Ident, ty: &Type, (key, about): (&LitStr, &str)) -> TokenStream {
        let unset = self.unset.as_ref().map_or(quote!(None), |text| quote!(Some(#text)));
        let (examples, open, required) = (&self.examples, self.open, self.required);
        let conflicts_with = self.conflicts_with.clone().unwrap_or(quote!(&[]));
        let min_items = self.min_items.as_ref().map_or(quote!(0), LitInt::to_token_stream);
        let max_items = self.max_items.as_ref().map_or(quote!(usize::MAX), LitInt::to_token_stream);
        let (wrapper, inner) = match type_argument(ty, "Option") {
            Some(inner) => (quote!(FormattedOption), inner),
            None => (quote!(FormattedValue), ty),
        };
        let (kind, content) = match self.kind {
            Kind::Table => (quote!(table), quote!(self.#name)),
            Kind::List => (quote!(list), quote!(self.#name)),
            Kind::Values => {
                let format = self.format.as_ref().unwrap_or(item_type(inner));
                let list = quote!(FormattedList::<#format, _>::new(&mut self.#name));
                (quote!(list), quote!(::rtolab_settings::#list))
            }
            _ => {
                let format = self.format.as_ref().unwrap_or(inner);
                let value = quote!(#wrapper::<#format, _>::new(&mut self.#name));
                (quote!(value), quote!(::rtolab_settings::#value))
            }
        };
        quote! {
            visit(::rtolab_settings::Setting {
                examples: &[#(#examples),*],
                unset: #unset,
                open: #open,
                required: #required,
                conflicts_with: #conflicts_with,
                items: (#min_items, #max_items),
                ..::rtolab_settings::Setting::#kind(#key, #about, &mut #content)
            });
        }
    }
}

/// The type of the values in a list of this type.
fn item_type(ty: &Type) -> &Type {
    match ty {
        Type::Array(array) => &array.elem,
        _ => type_argument(ty, "Vec").unwrap_or(ty),
    }
}

/// The type argument of `ty`, if `ty` is the generic type `name`.
fn type_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

fn derive_choice(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(input, "choices are variants of an enum"));
    };
    let rows = data.variants.iter().map(rows).collect::<Result<Vec<_>>>()?;
    let name = &input.ident;
    Ok(quote! {
        impl ::rtolab_settings::Choice for #name {
            const CHOICES: &'static [(&'static str, Self, &'static str)] = &[#(#rows)*];
        }
    })
}

/// The attribute `#[choice(..)]` of a variant: `skip`, or its name in documents, its value and its
/// description.
struct ChoiceAttribute {
    name: Option<LitStr>,
    value: Option<Expr>,
    about: Option<LitStr>,
}

impl Parse for ChoiceAttribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Ident) {
            let skip: Ident = input.parse()?;
            return match skip == "skip" {
                true => Ok(Self { name: None, value: None, about: None }),
                false => Err(Error::new_spanned(skip, "expected `skip` or a name in quotes")),
            };
        }
        let name = Some(input.parse()?);
        let mut rest = Self { name, value: None, about: None };
        if input.parse::<Option<Token![,]>>()?.is_some() {
            rest.value = Some(input.parse()?);
            if input.parse::<Option<Token![,]>>()?.is_some() {
                rest.about = Some(input.parse()?);
            }
        }
        Ok(rest)
    }
}

/// The rows of a variant in `CHOICES`, one for each of its names; none if it is skipped.
fn rows(variant: &Variant) -> Result<TokenStream> {
    let (name, about) = (&variant.ident, about(&variant.attrs)?);
    let given = variant.attrs.iter().filter(|attribute| attribute.path().is_ident("choice"));
    let given = given.map(Attribute::parse_args::<ChoiceAttribute>).collect::<Result<Vec<_>>>()?;
    if given.is_empty() {
        let word = kebab(&name.to_string());
        return Ok(quote!((#word, Self::#name, #about),));
    }
    let mut rows = TokenStream::new();
    for ChoiceAttribute { name: word, value, about: own } in given {
        let Some(word) = word else { continue };
        let value = value.map_or(quote!(Self::#name), |value| value.to_token_stream());
        let about = own.map_or(about.clone(), |own| own.value());
        rows.extend(quote!((#word, #value, #about),));
    }
    Ok(rows)
}

/// Converts a name such as `EveryAck` to `every-ack`.
fn kebab(name: &str) -> String {
    let mut word = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

/// The first paragraph of a doc comment, with links replaced by their text.
fn about(attributes: &[Attribute]) -> Result<String> {
    let mut about = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Expr::Lit(line) = &attribute.meta.require_name_value()?.value else { continue };
        let syn::Lit::Str(line) = &line.lit else { continue };
        let line = line.value();
        match line.trim() {
            "" => break,
            line if about.is_empty() => about.push_str(line),
            line => about = format!("{about} {line}"),
        }
    }
    while let Some((before, link)) = about.split_once("[`") {
        let Some((shown, after)) = link.split_once("`]") else { break };
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        let after = target.map_or(after, |(_, after)| after);
        let shown = shown.strip_prefix("Self::").unwrap_or(shown);
        about = format!("{before}`{shown}`{after}");
    }
    Ok(about)
}
