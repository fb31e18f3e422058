var B,Gn,Jr,Ue,en,Ct,Qn,Tt,Yn,nn,tn,Gr,pt=Symbol.for("pv"),Rt={},Dt=[],Qr=/^m(i|n|o|s|text|space)$/,on=Array.isArray,rn=Dt.slice,et=Object.assign;function Ze(e){e&&e.parentNode&&e.remove()}function Xn(e,t,n){var o,s,a,i={},l=arguments.length;for(a in t)a=="key"?o=t[a]:a=="ref"&&typeof e!="function"?s=t[a]:i[a]=t[a];return l>2&&(i.children=l>3?rn.call(arguments,2):n),ut(e,i,o,s,null)}function ut(e,t,n,o,s){var a={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:pt,__v:s||++Gn,__i:-1,__u:0};return!s&&B.vnode&&B.vnode(a),a}function It(e){return e.children}function st(e,t){this.props=e,this.context=t,this.__g=0}function We(e,t){if(t==null)return e.__&&We(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:We(e)}function Yr(e){var t,n=e.__v,o=n.__e,s=[],a=[],i=e.__P;i&&((t=et({constructor:pt},n)).__v=n.__v+1,B.vnode&&B.vnode(t),sn(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||We(n),32&n.__u,a),t.__v=n.__v,t.__.__k[t.__i]=t,ro(s,t,a),n.__=n.__e=null,t.__e!=o&&Zn(t))}function Zn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Zn(e)}function Vn(e){(8&e.__g||(e.__g|=8,Ue.push(e),Ct++))&&en==B.debounceRendering||((en=B.debounceRendering)||queueMicrotask)(eo)}function eo(){try{for(var e,t=1;Ue.length;)Ue.length>t&&Ue.sort(Qn),e=Ue.shift(),t=Ue.length,8&e.__g&&Yr(e)}finally{(Ct=Ue.length)&&(en||queueMicrotask)(eo)}}function to(e,t,n,o,s,a,i,l,u,d,c){var $,m,p,f,_,g,v=o.__k||Dt,w=t.length;for(u=Xr(n,t,v,u,w),$=0;$<w;$++)(p=n.__k[$])!=null&&(m=~p.__i&&v[p.__i]||Rt,p.__i=$,g=sn(e,p,m,s,a,i,l,u,d,c),f=p.__e,(m.ref!=p.ref||8&m.__u)&&(m.ref&&an(m.ref,null,p,m),p.ref&&c.push(p.ref,p.__c||f,p)),_=_||f,4&p.__u?(u=no(p,u,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="function"&&g!==void 0?u=g:f&&(u=f.nextSibling),p.__u&=-21);return n.__e=_,u}function Xr(e,t,n,o,s){var a,i,l,u,d,c,$,m,p,f=n.length,_=f,g=0,v=0,w=e.__k=Array(s);for(a=0;a<s;a++)(i=t[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=w[a]=ut(null,i):on(i)?i=w[a]=ut(It,{children:i}):i.constructor===pt&&i.__b?i=w[a]=ut(i.type,i.props,i.key,i.ref,i.__v):w[a]=i,u=a+g,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Zr(i,n,u,_))&&(_--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?g--:d==u+1?g++:d!=u&&(d>u?g--:g++,v=1)):(~d||(s>f?g--:s<f&&g++),typeof i.type!="function"&&(i.__u|=4))):w[a]=null;if(v){for(c=[],$=[],a=0;a<s;a++)if((i=w[a])&&16&i.__u){for(g=0,m=c.length;g<m;)c[p=g+m>>1]<i.__i?g=p+1:m=p;c[g]=i.__i,$[a]=g+1}for(g=c.length;a--;)$[a]&&($[a]==g?g--:w[a].__u|=4)}if(_)for(a=0;a<f;a++)!(l=n[a])||2&l.__u||(l.__e==o&&(o=We(l)),ln(l,l));return o}function no(e,t,n,o){var s,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(a=0;a<s.length;a++)s[a]&&(s[a].__=e,t=no(s[a],t,n,!1));return t}for(t&&!t.parentNode&&(t=We(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Zr(e,t,n,o){var s,a=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&a==null||u&&a==l.key&&i==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&a==l.key&&i==l.type)return s}return-1}function Jn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function xt(e,t,n,o,s){var a,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Jn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Jn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=tn[t]||(tn[t]=es(t)),(e.__a||(e.__a={}))[t]=nn,a=t!=(t=t.replace(Yn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,a):e.removeEventListener(t,i,a));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function es(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Tt]==null)t[Tt]=nn++;else if(t[Tt]<this.__a[e])return;return n(B.event?B.event(t):t)}}}function sn(e,t,n,o,s,a,i,l,u,d){var c,$,m,p,f,_,g,v,w,S,A,k,Q,ie,le,$e,oe,J,Z=t.type;if(t.constructor!==pt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,$=a=[],c.nodeType==8?l=St(c,a):a.push(c),l=a[0]||l),(c=B.__b)&&c(t);e:if(typeof Z=="function"){m=i.length;try{if(v=t.props,w=(c=Z.prototype)&&c.render,S=(c=Z.contextType)&&o[c.__c],A=c?S?S.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(w?t.__c=p=new Z(v,A):(t.__c=p=new st(v,A),p.constructor=Z,p.render=ns),S&&S.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),w&&(p.__s||(p.__s=p.state),Z.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=et({},p.__s)),et(p.__s,Z.getDerivedStateFromProps(v,p.__s)))),f=p.props,_=p.state,p.__v=t,n.__c){if(v!==f&&w&&!Z.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(v,A),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(v,p.__s,A)===!1){t.__v!=n.__v&&(p.props=v,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(b){b&&(b.__=t)}),Dt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=We(n);break e}p.componentWillUpdate&&p.componentWillUpdate(v,p.__s,A),w&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(f,_,g)})}else w&&!Z.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),w&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=A,p.props=v,p.__P=e,p.__g&=-5,k=B.__r,Q=w?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++Q<25);w&&(Dt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=et({},o,p.getChildContext())),w&&n.__c&&p.getSnapshotBeforeUpdate&&(g=p.getSnapshotBeforeUpdate(f,_)),ie=c&&c.type===It&&c.key==null?c.props.children:c,v.__P&&(c=l,s=(e=v.__P).namespaceURI,u=a=null,n.props&&n.props.__P!=e&&(n.__k.some(function(b){b&&ln(b,b)}),n.__k=null),l=n.__k?We(n,0):null),l=to(e,on(ie)?ie:[ie],t,n,o,s,a,i,l,u,d),v.__P&&(t.__e=null,l=c),t.__u&=-161,$&&$.some(Ze),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(b){if(i.length=m,t.__v=null,u||a)if(b&&b.then){if(t.__u|=128|u,a){for(~(oe=a.indexOf(l||void 0))||(oe=a.length);(J=a[oe-1])&&J.nodeType==8;)oe--;for(;oe<a.length;oe++)if(J=a[oe])if(a[oe]=null,le){if(J==$e)break}else{if(J.nodeType!=8)break;J.data.startsWith("$s")&&($e=St(le=J))}}if(!le){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;le=l}(c=St(le=t.__c.__z||(t.__c.__z=le)))?(t.__e=le,l=c):t.__e=l,l=l&&l.nextSibling}else a&&a.some(Ze);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),b&&b.then||oo(t),B.__e(b,t,n)}}else l=t.__e=ts(n.__e,t,n,o,s,a,i,u,d,e);return(c=B.diffed)&&c(t),l}function St(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function oo(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(oo))}function ro(e,t,n){for(var o=0;o<n.length;)an(n[o++],n[o++],n[o++]);B.__c&&B.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(a){a.call(s)})}catch(a){B.__e(a,s.__v)}})}function ts(e,t,n,o,s,a,i,l,u,d){var c,$,m,p,f,_,g,v,w=n.props||Rt,S=t.props,A=t.type;if(A=="svg"?s="http://www.w3.org/2000/svg":A=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),a){for(c=0;c<a.length;c++)if((f=a[c])&&(A?f.localName==A:f.nodeType==3)){e=f,a[c]=null;break}}if(!e){if(v=d.ownerDocument||document,!A)return v.createTextNode(S);e=v.createElementNS(s,A,S.is?S:d),l&&(B.__m&&B.__m(t,a),l=!1),a=null}if(A){if(d=A=="template"&&e.content||e,a=A=="textarea"&&S.defaultValue!=null?null:a&&rn.call(d.childNodes),!l&&a)for(w={},c=0;c<e.attributes.length;c++)w[(f=e.attributes[c]).name]=f.value;for(c in w)f=w[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in S||c=="value"&&"defaultValue"in S||c=="checked"&&"defaultChecked"in S||xt(e,c,null,f,s);for(c in S)f=S[c],c=="children"?p=f:c=="dangerouslySetInnerHTML"?$=f:c=="value"?_=f:c=="checked"?g=f:l&&typeof f!="function"||w[c]===f||xt(e,c,f,w[c],s);$?(l||m&&($.__html==m.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(m&&(e.textContent=""),(A=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Qr.test(A))&&(s="http://www.w3.org/1999/xhtml"),to(d,on(p)?p:[p],t,n,o,s,a,i,a?a[0]:n.__k&&We(n,0),l,u),a&&a.some(Ze)),l&&A!="textarea"||(c="value",A=="progress"&&_==null?e.removeAttribute(c):_==null||_===e[c]&&(A!="progress"||_)||xt(e,c,_,w[c],s),c="checked",g!=null&&g!=e[c]&&xt(e,c,g,w[c],s))}else w===S||l&&e.data==S||(e.data=S);return e}function an(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){B.__e(s,n)}}function ln(e,t,n){var o,s,a,i;if(B.unmount&&B.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||an(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){B.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&ln(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=St(o,a=[]))&&(o==e.__e&&a.some(Ze),Ze(s),Ze(o)),n||Ze(e.__e),e.__e=e.__c=e.__=null}function ns(e,t,n){return this.constructor(e,n)}function so(e,t){var n,o,s,a;B.__&&B.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ut(It,{children:[e]}),s=[],a=[],sn(t,t.__k,o||Rt,Rt,t.namespaceURI,o?null:t.firstChild?rn.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,a),ro(s,t.__k,a),t.__k.props.children=null}B={__e:function(e,t,n,o){for(var s,a,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(a=s.constructor)&&a.getDerivedStateFromError)&&s.setState(a.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw Ct=0,e}},Gn=0,Jr=function(e){return e!=null&&e.constructor===pt},st.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=et({},this.state)),typeof e=="function"&&(e=e(et({},n),this.props)),e&&(et(n,e),this.__v&&(t&&this.__k.push(t),Vn(this)))},st.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Vn(this))},st.prototype.render=It,Ue=[],Ct=0,Qn=function(e,t){return e.__v.__b-t.__v.__b},Tt=Symbol(),Yn=/(PointerCapture)$|Capture$/i,nn=0,tn={},Gr=0;var tt,ne,cn,ao,un=Object.is,Ot=0,ho=[],pn=[],te=B,io=te.__b,lo=te.__r,co=te.diffed,uo=te.__c,po=te.unmount,mo=te.__;function mt(e,t){te.__h&&te.__h(ne,e,Ot||t),Ot=0;var n=ne.__H||(ne.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function h(e){return Ot=1,os(go,e)}function os(e,t,n){var o=mt(tt++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):go(void 0,t),function(a){var i=(o.__N||o.__)[0],l=o.t(i,a);un(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=ne,!ne.__f)){ne.__f=!0;var s=ne.shouldComponentUpdate;ne.shouldComponentUpdate=function(a,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=a;if(u.__.some(function(m){m.__N&&(d=!0,un(m.__[0],m.__N[0])||(c=!0))}),s){var $=s.call(this,a,i,l);return d?$||c:$}return!d||c}}return o.__}function E(e,t){var n=mt(tt++,3);!te.__s&&mn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,ne.__H.__h.push(n))}function ft(e,t){var n=mt(tt++,4);!te.__s&&mn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,ne.__h.push(n))}function K(e){return Ot=5,de(function(){return{current:e}},[])}function de(e,t){var n=mt(tt++,7);return mn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function $t(){var e=mt(tt++,11);if(!e.__){for(var t=ne.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function rs(){var e;do{for(;e=pn.shift();)try{dt(e)}catch(n){te.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=ho.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(dt),t.__h.some(dn),t.__h=[]}catch(n){t.__h=[],te.__e(n,e.__v)}}}while(pn.length)}te.__b=function(e){ne=null,io&&io(e)},te.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),mo&&mo(e,t)},te.__r=function(e){lo&&lo(e),tt=0;var t=(ne=e.__c).__H;t&&(cn==ne?ne.__h=[]:(t.__h.some(dt),t.__h.some(dn),tt=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),cn=ne},te.diffed=function(e){co&&co(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&$o(ho.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),cn=ne=null},te.__c=function(e,t){t.some(function(n){try{n.__h.some(dt),n.__h=n.__h.filter(function(o){return!o.__||dn(o)})}catch(o){n.__h=[function(){throw o}]}}),uo&&uo(e,t)},te.unmount=function(e){po&&po(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,$o(pn.push(s))}else dt(s)}catch(a){t=a}}),o.__H=void 0,t&&te.__e(t,o.__v))};var fo=typeof requestAnimationFrame=="function";function ss(e){var t,n=function(){clearTimeout(o),fo&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);fo&&(t=requestAnimationFrame(n))}function $o(e){e!=1&&ao==te.requestAnimationFrame||((ao=te.requestAnimationFrame)||ss)(rs)}function dt(e){var t=ne,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),ne=t}function dn(e){var t=ne;e.__c=e.__(),ne=t}function mn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!un(n,e[o])})}function go(e,t){return typeof t=="function"?t(e):t}var bo=function(e,t,n,o){var s;t[0]=0;for(var a=1;a<t.length;a++){var i=t[a++],l=t[a]?(t[0]|=i?1:2,n[t[a++]]):t[++a];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++a]]=l:i===6?o[1][t[++a]]+=l+"":i?(s=e.apply(l,bo(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[a-2]=0,t[a]=s)):o.push(l)}return o},_o=new Map;function vo(e){var t=_o.get(this);return t||(t=new Map,_o.set(this,t)),(t=bo(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,a=1,i="",l="",u=[0],d=function(m){a===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):a===3&&(m||i)?(u.push(3,m,i),a=2):a===2&&i==="..."&&m?u.push(4,m,0):a===2&&i&&!m?u.push(5,0,!0,i):a>=5&&((i||!m&&a===5)&&(u.push(a,0,i,s),a=6),m&&(u.push(a,m,0,s),a=6)),i=""},c=0;c<n.length;c++){c&&(a===1&&d(),d(c));for(var $=0;$<n[c].length;$++)o=n[c][$],a===1?o==="<"?(d(),u=[u],a=3):i+=o:a===4?i==="--"&&o===">"?(a=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),a=1):a&&(o==="="?(a=5,s=i,i=""):o==="/"&&(a<5||n[c][$+1]===">")?(d(),a===3&&(u=u[0]),a=u,(u=u[0]).push(2,0,a),a=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),a=2):i+=o),a===3&&i==="!--"&&(a=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var r=vo.bind(Xn);function ge(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function z(e){let[t,n]=h(e.get());return E(()=>(n(e.get()),e.subscribe(n)),[e]),t}function At(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ge(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var Nt=()=>location.pathname+location.search,nt=ge(Nt()),yo=0;addEventListener("popstate",()=>nt.set(Nt()));function _e(e,{replace:t=!1}={}){e!==Nt()&&(t?history.replaceState(history.state,"",e):(yo++,history.pushState({depth:yo},"",e)),nt.set(Nt()))}function wo(){history.state?.depth>0?history.back():_e("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():_e(t.pathname+t.search))});function U(){let e=z(nt);return[de(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let a=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){a.delete(l);for(let d of[u].flat())d&&a.append(l,d)}let i=a.toString();_e(location.pathname+(i?`?${i}`:""),{replace:s})}]}function re(e){E(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function ko(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function Ce(e,t,n=200){let[o,s]=h(e);return E(()=>s(e),[e]),E(()=>{if(o===e)return;let a=setTimeout(()=>t(o),n);return()=>clearTimeout(a)},[o]),[o,s]}var Re=ge({online:!0}),He=ge(0),ht=null;function Lt(){Re.get().online||(clearTimeout(ht),ht=null,Re.set({online:!0}),He.set(He.get()+1))}function gt(e){let t=Re.get();Re.set({online:!1,since:t.since??Date.now(),message:e}),ht===null&&(ht=setTimeout(Eo,1e3))}async function Eo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Lt();let t=await e.json().catch(()=>null);t?.message&&Re.set({...Re.get(),message:t.message})}catch{}Re.get().online||(ht=setTimeout(Eo,1e3))}var Be=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function G(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Mt(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let a of Array.isArray(s)?s:[s])a!=null&&a!==""&&a!==!1&&a!==0&&t.append(o,a);let n=t.toString();return n?`?${n}`:""}var fn=0n,xo=0,Ke=()=>Date.now()+xo;function jt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:fn.toString()}}function as(e){try{let t=BigInt(e?.revision??0);t>fn&&(fn=t)}catch{}}async function je(e,t,{query:n,body:o,signal:s}={}){let a={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(a.headers["Content-Type"]="application/json",a.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Mt(n),a),l=await i.json().catch(()=>null)}catch(u){throw s?.aborted?u:(gt("The server does not answer."),new Be(0))}return Pt(i,l)}function Pt(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();xo=Math.abs(s)>2e3?s:0}if(e.ok)return Lt(),as(t),t??{};let o=new Be(e.status,t);throw o.offline?gt(o.message):Lt(),e.status===401&&is(),o}var _t=e=>e<40?1e4:e<300?3e4:6e4,x=(e,t,n)=>je("GET",e,{query:t,signal:n}),R=(e,t,n)=>je("POST",e,{body:t,signal:n}),To=(e,t,n)=>je("PUT",e,{body:t,signal:n}),So=(e,t)=>je("DELETE",e,{query:t});function is(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Mt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function xe(e,t,n,o,s=5e3){let a=[],i="";do{let l=await x(e,{page_size:1e3,...t,page_token:i},o);a.push(...l[n]??[]),i=l.next_page_token??""}while(i&&a.length<s);return{items:a,more:i!==""}}var De=ge(null),qt=At("author",""),be=()=>De.get()?.authenticated?{}:{author:qt.get()||"dashboard"};async function $n(){let e=await x("/session");De.set({authenticates:e.authenticated??!1,...e}),Ft.clear()}async function Co(e){await je("POST","/session",{body:{token:e}}),await $n()}async function Ro(){await je("DELETE","/session"),De.set(null)}var Ft=new Map;function ls(e){let t=JSON.stringify(e),n=Ft.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:R("/v1/can-i",e)},n.answer.catch(()=>Ft.delete(t)),Ft.set(t,n)),n.answer}var cs={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function Do(e,t="",n="",o=""){let s=z(De),[a,i]=h("");return E(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return ls({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${cs[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),a}var y=e=>Number(e??0).toLocaleString("en"),I=(e,t,n)=>`${y(e)} ${Number(e)===1?t:n}`,L=e=>e?Math.round(parseFloat(e)*1e3):0;function Te(e){if(!e)return"0s";if(e<0)return`-${Te(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function Y(e){return e<0?"0s":e<1e4?Te(Math.round(e/100)*100):e<36e5?Te(Math.round(e/1e3)*1e3):e<48*36e5?Te(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var at=e=>Y(Math.max(0,Math.round(e/1e3))*1e3),us={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Ie(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,a)=>(t+=parseFloat(s)*us[a],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var ot=e=>e==null?"":Te(L(e));var bt=e=>String(e).padStart(2,"0");function N(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${bt(t.getMonth()+1)}-${bt(t.getDate())}`} ${Ut(t)}`}var Ut=e=>`${bt(e.getHours())}:${bt(e.getMinutes())}:${bt(e.getSeconds())}`;function it(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(Ke()).toDateString()?Ut(t):N(e)}function Se(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function ze(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${y(n)} more`:"")}function hn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var ps=4e4,ds=5e3;function Oo(e,t,n){let o=!1,s=0,a=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",$)},$=()=>{document.hidden?d():l||p()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let _=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let g=new Be(_.status??500,_);Io(_.code)||(c(),n.error?.(g))}else n[f.type]?.(_,f.id)};async function p(){clearTimeout(u);let f=l=new AbortController,_=null,g=()=>{clearTimeout(_),_=setTimeout(()=>f.abort(),ps)};try{g();let v={Accept:"text/event-stream"};i&&(v["Last-Event-ID"]=i);let w=await fetch(e+Mt(t),{headers:v,signal:f.signal});if(!w.ok||!w.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Pt(w,await w.json().catch(()=>null)),new Be(500,{message:"The answer is not a stream of events."});s=0,Pt(w,{}),n.open?.(a),a=!0,await ms(w.body,S=>!o&&m(S),g)}catch(v){v instanceof Be?!v.offline&&!Io(v.code)&&v.status!==401?(c(),n.error?.(v)):v.status===401&&c():f.signal.aborted||gt("The connection to the server broke.")}finally{clearTimeout(_)}o||l!==f||(l=null,!document.hidden&&(s++,u=setTimeout(p,Math.min(ds,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",$),document.hidden||p(),c}var Io=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function ms(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",a={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(s+i).split(`
`);s=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(a),a={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let $=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":a.type=$;break;case"id":a.id=$;break;case"data":a.data+=$}}}}function T(e,t,{every:n=0,keep:o=!1}={}){let[s,a]=h({}),[i,l]=h(0),u=z(He),d=JSON.stringify(t),c=K(e);c.current=e,E(()=>{if(e===null)return;let p=new AbortController;return c.current(p.signal).then(f=>p.signal.aborted||a({data:f,key:d}),f=>p.signal.aborted||a(_=>({..._,error:f,failed:d}))),()=>p.abort()},[d,i,u,e===null]),E(()=>{if(!n)return;let p=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(p)},[n]);let $=s.key===d,m=s.failed===d?s.error:void 0;return{data:$||o?s.data:void 0,error:m,loading:!$&&!m,refresh:()=>l(p=>p+1),set:p=>a(f=>({...f,data:p(f.data)}))}}function Oe(e,t,n){let o=K(n);o.current=n;let s=JSON.stringify([e,t]);E(()=>{if(!e)return;let a=i=>(...l)=>o.current[i]?.(...l);return Oo(e,t,{message:a("message"),live:a("live"),missed:a("missed"),open:a("open"),error:a("error"),end:a("end")})},[s])}var gn=ge(0),Ao=null,No=0;function Pe(){return E(()=>(No++===0&&(Ao=setInterval(()=>document.hidden||gn.set(gn.get()+1),1e3)),()=>{--No===0&&clearInterval(Ao)}),[]),z(gn)}function Fe(e,t){let n=K(e);n.current=e;let o=K(null);return E(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Wt(e){let[t,n]=h(()=>matchMedia(e).matches);return E(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function ye({what:e="Reading"}){return r`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function O({title:e,children:t}){return r`<div class="empty"><p class="empty-title">${e}</p>${t&&r`<p>${t}</p>`}</div>`}var Lo={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function W({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return r`<div class="failure" role="alert">
    <p class="failure-text">${Mo(e.message)}</p>
    ${Lo[e.code]&&r`<p>${Lo[e.code]}</p>`}
    ${n.length>0&&r`<ul>${n.map(o=>r`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&r`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&r`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&r`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var Mo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function H({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?r`<${W} error=${e.error} retry=${e.refresh} />`:r`<${ye} what=${t} />`:r`${e.error&&!e.error.offline&&r`<${W} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function jo(){let e=z(Re);return Pe(),e.online?r`<div role="status" class="sr-only"></div>`:r`<div class="offline" role="status">
    <strong>${Mo(e.message)}</strong>
    <span> What is shown is as of ${Ut(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var vt=ge([]),fs=0;function we(e,{tone:t="run",action:n}={}){vt.set([...vt.get().slice(-2),{id:++fs,text:e,tone:t,action:n}])}var _n=e=>vt.set(vt.get().filter(t=>t.id!==e));function $s({id:e,text:t,tone:n,action:o}){return E(()=>{let s=setTimeout(()=>_n(e),o?3e4:12e3);return()=>clearTimeout(s)},[e]),r`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&r`<button type="button" onClick=${()=>(_n(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>_n(e)}>×</button>
  </div>`}function Po(){let e=z(vt);return r`<div class="notices" role="status">${e.map(t=>r`<${$s} key=${t.id} ...${t} />`)}</div>`}function F({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:a="",children:i,onClick:l,type:u="button",...d}){let c=Do(e,t,n,o),$=$t(),m=c||s;return r`<span class="action">
    <button
      type=${m?"button":u}
      class=${a}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?$:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&r`<span class="why" role="tooltip" id=${$}>${m}</span>`}
  </span>`}function ce({title:e,onClose:t,wide:n,firm:o,children:s}){let a=K(null),i=$t();return ft(()=>{let l=document.activeElement,u=a.current;return u.showModal(),()=>{u.close(),l?.isConnected&&l.focus()}},[]),r`<dialog
    ref=${a}
    class=${n?"wide":""}
    aria-labelledby=${i}
    onCancel=${l=>(l.preventDefault(),t())}
    onMouseDown=${l=>!o&&l.target===a.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${i}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${s}
    </div>
  </dialog>`}function Fo({label:e,help:t,error:n,children:o,class:s=""}){let a=$t(),i=[t&&`${a}-help`,n&&`${a}-error`].filter(Boolean).join(" ")||void 0;return r`<div class="field ${s}">
    <label for=${a}>${e}</label>
    ${o({id:a,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&r`<p class="help" id="${a}-help">${t}</p>`}
    ${n&&r`<p class="error" id="${a}-error" role="alert">${n}</p>`}
  </div>`}function D({label:e,help:t,error:n,value:o,onInput:s,area:a,class:i,...l}){return r`<${Fo} label=${e} help=${t} error=${n} class=${i}>
    ${u=>a?r`<textarea rows=${a} value=${o} onInput=${d=>s(d.target.value)} ...${u} ...${l}></textarea>`:r`<input value=${o} onInput=${d=>s(d.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function ke({label:e,help:t,error:n,value:o,options:s,onChange:a,class:i}){return r`<${Fo} label=${e} help=${t} error=${n} class=${i}>
    ${l=>r`<select value=${o} onChange=${u=>a(u.target.value)} ...${l}>
      ${s.map(([u,d])=>r`<option value=${u} selected=${u===o}>${d}</option>`)}
    </select>`}
  <//>`}function me({label:e,help:t,checked:n,onChange:o}){let s=$t();return r`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0} onChange=${a=>o(a.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&r`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function lt({of:e,query:t="tab",label:n}){let[o]=U(),s=o.get(t)??e[0][0],a=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return r`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>r`<a href=${a(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function qo(e){let t=K(e);t.current=e,E(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function M(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Ht=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],hs={value:"",word:"unknown",tone:"idle",help:""},Uo=e=>Ht.find(t=>t.value===e)??hs,yt=e=>Ht.filter(t=>e.states?.includes(t.value));function Wo(e){let t=yt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${it(e.pause.until)}`:"paused":t?.word??"unknown"}function Bt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(gs(e.pause)),e.missed&&t.push(_s(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${j(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${N(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function gs(e){let t=e.until?`Paused until ${N(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${Y(L(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function _s(e){let t=M(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${M(e.reason,"REASON_")})`:""}`}var j=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Ho(e){let t=M(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${Y(L(e.drain_left))}`);let n=M(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Bo=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function Je(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var ve=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Ve(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return ot(n);case"choice":return M(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function bn(e,t){return ve.map(n=>({field:n,before:Ve(n,e),after:Ve(n,t)})).filter(n=>n.before!==n.after)}var vn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(a=>`${a.acquirer} in ${a.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${y(s)} more`:"")};function Ko(e=[]){let t=e.flatMap(a=>a.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(a=>a.drain_left).length,o=[];t.length>n&&o.push(`${I(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}; every slot is free within ${Y(Math.max(...t.map(a=>L(a.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function zo(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${ze(s)}: ${o}`)]}var bs=e=>`${e.length===1?"change":"changes"} ${ze(e,5)}`;function yn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${N(e.until)}`),t.join(", ")}function Vo(e){let t=[],n=M(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${N(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${N(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${Y(L(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${yn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let a=e.firings.firings.map(l=>Je(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${I(a.length,"firing","firings")} ${i} (${ze(a)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${bs([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${j(e.permit.identity)}, token ${e.permit.token}`);let s=M(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${Y(L(e.drain))}`),[...new Set(t)].join("; ")}var vs={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Jo=e=>vs[M(e,"EVENT_KIND_")]??"idle",Go=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function wt(e){let t=M(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function V({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:a}){return n?.length?r`<div class="table-wrap">
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([i,,l])=>r`<th scope="col" class=${l}>${i}</th>`)}</tr></thead>
      <tbody>
        ${n.map((i,l)=>r`<tr key=${o?o(i):l}>
          ${t.map(([u,d,c],$)=>$===0?r`<th scope="row" class=${c} data-label=${u}>${d(i)}</th>`:r`<td class=${c} data-label=${u}>${d(i)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${a&&r`<p class="faint">${a}</p>`}
  </div>`:s??r`<${O} title="Nothing here." />`}function Ae({of:e}){return r`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>r`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function Ee({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return r`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Kt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Pe(),!e)return r`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return r`<span class="deadline" title=${n}>
    ${t>0&&r`<${Ee} share=${o/t} tone=${s?"wait":"run"} label="${at(o)} left" />`}
    <span class="num">${at(o)}</span>
  </span>`}function fe({at:e}){return Pe(),e?r`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${at(Ke()-Date.parse(e))}</time>`:"–"}function Qo({parts:e,total:t,label:n}){let o=0;return r`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,a])=>{let i=t?1e3*s/t:0,l=r`<rect class="fill-${a}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Ge=50;function wn({before:e,after:t}){if(!e&&!t)return null;if(!e)return r`<span>created</span>`;if(!t)return r`<span>deleted</span>`;let n=bn(e,t);return n.length===0?r`<span class="faint">–</span>`:r`<ul class="changes">
    ${n.map(o=>r`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function ys({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:r`<section>
    <h3>Must stop</h3>
    <${V}
      caption="Holders that must stop"
      rows=${t.slice(0,Ge)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>j(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>r`<${fe} at=${n.permit.granted_at} />`,"num"],["Free within",n=>Y(L(n.free_within))+(n.drain_left?` (its drain had ${Y(L(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Ge&&`and ${y(t.length-Ge)} more`}
    />
  </section>`}function Yo({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||bn(i.before,i.after).length),o=zo(t,e.warnings),s=t.flatMap(i=>i.held??[]),a=t.filter(i=>Number(i.waiting_tasks));return r`<div class="effects">
    <p class="lead">${Ko(t)}</p>
    ${e.confirm?.length>0&&r`<ul class="confirm">${e.confirm.map(i=>r`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&r`<ul class="warnings">${o.slice(0,20).map(i=>r`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&r`<section>
      <h3>${I(n.length,"semaphore changes","semaphores change")}</h3>
      <${V}
        caption="Semaphores that change"
        rows=${n.slice(0,Ge)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>r`<${wn} before=${i.before} after=${i.after} />`],["Lets in",i=>vn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>vn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>y(i.stopped?.length),"num"],["Continue",i=>y(i.unaffected),"num"]]}
        note=${n.length>Ge&&`and ${y(n.length-Ge)} more`}
      />
    </section>`}
    <${ys} effects=${t} />
    ${s.length>0&&r`<section><h3>Held for an operator</h3>
      <ul>${s.slice(0,Ge).map(i=>r`<li>${i.semaphore}: the permit of ${j(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${a.length>0&&r`<ul>${a.slice(0,Ge).map(i=>r`<li>${i.semaphore}: ${I(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function ae(e){let{title:t,verb:n,kind:o,preview:s,run:a,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:$,nothing:m,deps:p,extra:f,children:_}=e,{show:g=P=>r`<${Yo} of=${P} />`,undoable:v=!0,journal:w=!0}=e,[S,A]=h(0),k=T(s,[t,S,p],{keep:!0}),Q=k.loading||k.error,[ie,le]=h(""),[$e,oe]=h(!1),[J,Z]=h(null),b=K(null),ue=k.data&&m?.(k.data);E(()=>{k.error&&d?.(k.error)===!0&&l()},[k.error]),E(()=>{b.current=null},[JSON.stringify(p)]);let ee=()=>{b.current=null,Z(null),A(S+1)};async function C(P){if(P.preventDefault(),!($e||Q||ue)){oe(!0),Z(null),b.current??=jt();try{let q=await a({reason:ie,...be(),...b.current},k.data),se=q.revision??q.change,he=v&&se&&se!=="0"?{text:"Undo",run:()=>rt(se)}:void 0;we(i(q),{action:he}),u?.(q,k.data),l()}catch(q){q.code!=="UNAVAILABLE"&&(b.current=null),oe(!1);let se=d?.(q);se===!0?l():se!=="shown"&&Z(q)}}}return r`<${ce} title=${t} onClose=${l} wide firm=${!!_}>
    <form onSubmit=${C}>
      ${_}
      <${H} of=${k} what="Asking what this would do">
        ${P=>r`${f?.(P)}${g(P)}${P.notes?.length>0&&r`<ul>${P.notes.map(q=>r`<li>${q}</li>`)}</ul>`}
        ${ue&&r`<p class="lead">${ue}</p>`}`}
      <//>
      ${w&&r`<${D} label="Reason" help="For the journal: why you do this." value=${ie} onInput=${le} maxlength="1024" />`}
      ${J&&r`<${W} error=${J} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(J.reason)?ee:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${F} role=${c} semaphore=${$} type="submit" kind=${o??"primary"} why=${Q?"There is no preview yet.":ue}>
          ${$e?"Working …":typeof n=="function"?n(k.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var kn=ge(null);function rt(e,t){kn.set({change:String(e),onDone:t})}function Xo(){let e=z(kn);return e?r`<${ae}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>R("/v1/undo",{change:e.change,dry_run:!0,...be()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>R("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>kn.set(null)}
  />`:null}var ws=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],En=At("theme","auto");En.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function ks(){let e=z(En),t={auto:"light",light:"dark",dark:"auto"}[e];return r`<button type="button" class="plain" onClick=${()=>En.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var Es=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function xs({onClose:e}){return r`<${ce} title="Keys" onClose=${e}>
    <dl class="keys">${Es.map(([t,n])=>r`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function Ts(){let e=z(De),t=z(qt),[n,o]=h(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return r`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${s}</button>
    ${n&&r`<${ce} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?r`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>Ro().catch(()=>{}).then(()=>_e("/login"))}>Log out</button></p>`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${D} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${a=>qt.set(a)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function Ss(){let e=T(o=>x("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=z(Re).online,n=e.data;return t?n?r`<a class="leader" href="/cluster">
    ${n.leader_id?r`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}<span class="long"> leads</span></span>`:r`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:r`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:r`<a class="leader" href="/cluster"><span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var Cs={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function zt({children:e,bare:t}){let n=z(nt).split("?")[0],[o,s]=h(!1),a=K(null),i=K(!0),l=K(0);return E(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),a.current?.querySelector("h1")?.focus()},[n]),qo({"?":()=>s(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&wo()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(Cs).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),r`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&r`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${ws.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return r`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${Ss} />
        <${Ts} />
        <${ks} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${jo} />
    <main id="main" tabindex="-1" ref=${a}>${e}</main>
    <${Po} />
    <${Xo} />
    ${o&&r`<${xs} onClose=${()=>s(!1)} />`}`}function X({children:e,aside:t}){return r`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&r`<div class="row">${t}</div>`}</div>`}var xn=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens; it has no scope"]],Vt=xn.map(([e])=>[`ROLE_${e.toUpperCase()}`,e]);var Zo=e=>e.split(`
`).map(t=>t.trim()).filter(Boolean),tr=e=>({role:e.role,semaphores:(e.semaphores??[]).join(`
`),labels:e.labels??"",group:e.group??"",acquirer:e.acquirer??""}),Tn=e=>({name:e?.name??"",subjects:(e?.subjects??[]).join(`
`),grants:(e?.grants??[{role:"ROLE_VIEWER"}]).map(tr)}),er=e=>({name:e.name.trim(),subjects:Zo(e.subjects),grants:e.grants.map(t=>({role:t.role,semaphores:Zo(t.semaphores),labels:t.labels.trim(),group:t.group,acquirer:t.acquirer}))}),Sn=e=>[...(e?.subjects??[]).map(t=>`subject ${t}`),...(e?.grants??[]).map(t=>`grant ${wt(t)}`)];function Rs({was:e,is:t}){let[n,o]=[Sn(e),Sn(t)],s=o.filter(i=>!n.includes(i)),a=n.filter(i=>!o.includes(i));return s.length+a.length===0?null:r`<ul class="changes">
    ${s.map(i=>r`<li><span class="sr-only">adds </span><ins>${i}</ins></li>`)}
    ${a.map(i=>r`<li><span class="sr-only">removes </span><del>${i}</del></li>`)}
  </ul>
  ${a.length>0&&r`<p>Callers lose what is removed at once.</p>`}`}function Ds({number:e,value:t,set:n,remove:o,error:s}){let a=i=>l=>n({...t,[i]:l});return r`<fieldset class="grant">
    <legend>Grant ${e}</legend>
    <div class="form">
      <${ke} label="Role" value=${t.role} options=${Vt} onChange=${a("role")}
        error=${s("role")} />
      <${D} label="Semaphores" area=${2} value=${t.semaphores} onInput=${a("semaphores")}
        error=${s("semaphores")} help="Names or globs, one on each line. Empty: all." />
      <${D} label="Labels" value=${t.labels} onInput=${a("labels")} error=${s("labels")}
        help="A selector, as team=data. Empty: any." />
      <${D} label="Group" value=${t.group} onInput=${a("group")} error=${s("group")}
        help="A pattern of the groups as which callers may act. Empty: any." />
      <${D} label="Acquirer" value=${t.acquirer} onInput=${a("acquirer")} error=${s("acquirer")}
        help="The same for acquirers." />
    </div>
    <p class="row end"><button type="button" onClick=${o}>Remove grant ${e}</button></p>
  </fieldset>`}function Is(){let[e,t]=h([]),n=o=>s=>s.field===o||s.field.startsWith(`${o}[`);return{error:o=>e.find(n(o))?.rule,clear:()=>t([]),take(o,s){return t(o.fields),o.fields.length>0&&o.fields.every(a=>s.some(i=>n(i)(a)))}}}function nr({binding:e,onClose:t,onDone:n}){let[o,s]=h(e),[a,i]=h(()=>Tn(e)),[l,u]=h(null),d=Is(),c=er(a),$=de(()=>JSON.stringify(er(Tn(o))),[o]),m=v=>{d.clear(),i({...a,...v})},p=v=>w=>m({grants:a.grants.map((S,A)=>A===v?w:S)}),f=["binding.name","binding.subjects"];a.grants.forEach((v,w)=>f.push(...Object.keys(v).map(S=>`binding.grants[${w}].${S}`)));let _=v=>{if(v.reason!=="STALE_VERSION")return d.take(v,f)&&"shown";x("/v1/bindings").then(w=>u(w.bindings.find(S=>S.name===c.name)),()=>{})},g=v=>{s(l),v||i(Tn(l)),u(null)};return r`<${ae}
    title=${e?`Edit binding ${e.name}`:"Create a binding"}
    verb=${o?"Save":"Create"}
    role="ROLE_ADMIN"
    deps=${[c,o?.revision]}
    preview=${async()=>({})}
    show=${()=>r`<${Rs} was=${o} is=${c} />`}
    nothing=${()=>l?"Choose what becomes of the change of somebody else.":c.name?o&&$===JSON.stringify(c)?"Nothing was changed.":"":"It needs a name."}
    run=${({reason:v})=>To(G`/v1/bindings/${c.name}`,{binding:c,expected_revision:o?.revision,reason:v})}
    done=${()=>`Binding ${c.name} is ${o?"saved":"created"}.`}
    onError=${_}
    onClose=${t}
    onDone=${n}
  >
    ${l&&r`<div class="note" role="alert">
      <p>${l.updated_by||"Somebody"} saved this binding at ${N(l.updated_at)}, while you edited it. It is now:</p>
      <ul>${Sn(l).map(v=>r`<li>${v}</li>`)}</ul>
      <p class="row">
        <button type="button" onClick=${()=>g(!0)}>Keep my values</button>
        <button type="button" onClick=${()=>g(!1)}>Take these values</button>
      </p>
    </div>`}
    <div class="form">
      ${!e&&r`<${D} label="Name" value=${a.name} onInput=${v=>m({name:v})} error=${d.error("binding.name")}
        help="The principal: the author of changes, and the owner of permits." autofocus />`}
      <${D} label="Subjects" area=${3} value=${a.subjects} onInput=${v=>m({subjects:v})}
        error=${d.error("binding.subjects")}
        help="One on each line: cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE. None: only bearer tokens." />
    </div>
    ${a.grants.map((v,w)=>r`<${Ds} key=${w} number=${w+1} value=${v} set=${p(w)}
        remove=${()=>m({grants:a.grants.filter((S,A)=>A!==w)})}
        error=${S=>d.error(`binding.grants[${w}].${S}`)} />`)}
    <p><button type="button" onClick=${()=>m({grants:[...a.grants,tr({role:"ROLE_VIEWER"})]})}>Add a grant</button></p>
  <//>`}function or({binding:e,onClose:t,onDone:n}){let o=e.subjects??[],s=e.tokens??[];return r`<${ae}
    title=${`Remove binding ${e.name}`}
    verb="Remove it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>r`
      ${o.length+s.length===0&&r`<p>The binding has no subject and no token, so nobody loses access.</p>`}
      ${o.length>0&&r`<p>These subjects may do nothing any more:</p><ul>${o.map(a=>r`<li><code>${a}</code></li>`)}</ul>`}
      ${s.length>0&&r`<p>These tokens end:</p>
        <ul>${s.map(a=>r`<li><code>${a.id}</code>${a.created_by&&`, created by ${a.created_by}`}</li>`)}</ul>`}
      <p>Streams of ${e.name} end within a second. Its permits live until they expire.</p>`}
    run=${({reason:a})=>So(G`/v1/bindings/${e.name}`,{expected_revision:e.revision,reason:a})}
    done=${()=>`Binding ${e.name} is removed.`}
    onError=${a=>{a.reason==="STALE_VERSION"&&n()}}
    onClose=${t}
    onDone=${n}
  />`}function Ne({lasts:e,until:t}){return e?.trim()?{lasts:Ie(e)}:t?{until:new Date(t).toISOString()}:{}}var Le=e=>e?.trim()?{drain:Ie(e)}:{};function Me(e){try{return e(),""}catch(t){return t.message}}function qe({value:e,set:t,without:n="It stays until somebody ends it.",error:o}){return r`<${D}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${s=>t({...e,lasts:s,until:""})}
      error=${Me(()=>Ie(e.lasts??""))||o}
      help=${`As 30m or 2h. ${n}`}
    />
    <${D} label="Or until" type="datetime-local" value=${e.until??""} onInput=${s=>t({...e,until:s,lasts:""})} />`}function Qe({value:e,set:t}){return r`<${D}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Me(()=>Ie(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}function rr(e){let{lasts:t,until:n}=Ne(e);return t?{expires_at:new Date(Ke()+L(t)).toISOString()}:n?{expires_at:n}:{}}function Os({of:e,binding:t,onClose:n}){let o=K(null),[s,a]=h("");E(()=>o.current.querySelector("input").select(),[]);let i=async()=>{o.current.querySelector("input").select();try{await navigator.clipboard.writeText(e.secret),a("Copied.")}catch{a("The browser does not allow it: copy the selected text with Ctrl-C.")}},l=e.token.expires_at?`until ${N(e.token.expires_at)}`:"until it is revoked";return r`<div class="stack" ref=${o}>
    <p class="note" role="alert">Copy the token now. It is shown only this once: the servers keep a hash of it.</p>
    <${D} label="Token" value=${e.secret} onInput=${()=>{}} readonly />
    <p>A caller that shows it acts as ${t}, ${l}. Its id is <code>${e.token.id}</code>.</p>
    <p class="row end">
      <span class="grow" role="status">${s}</span>
      <button type="button" onClick=${i}>Copy</button>
      <button type="button" class="primary" onClick=${n}>Done</button>
    </p>
  </div>`}function sr({binding:e,onClose:t,onDone:n}){let[o,s]=h({lasts:"30d",until:""}),[a,i]=h(""),[l,u]=h(null),[d,c]=h(null),[$,m]=h(!1),p=Me(()=>rr(o)),f=async g=>{if(g.preventDefault(),!($||p)){m(!0),c(null);try{u(await R("/v1/tokens",{binding:e,reason:a,...rr(o)})),n()}catch(v){c(v.offline?{message:"It is not known whether the token was created. If the list has a new one, revoke it."}:v),v.offline&&n()}m(!1)}},_=d?.fields?.find(g=>g.field==="expires_at")?.rule;return r`<${ce} title=${`${l?"Token":"Create a token"} of ${e}`} onClose=${t} firm>
    ${l?r`<${Os} of=${l} binding=${e} onClose=${t} />`:r`<form onSubmit=${f}>
          <p>A caller that shows the token may do all that the binding grants.</p>
          <div class="form">
            <${qe} value=${o} set=${g=>(s(g),c(null))} without="Empty: until it is revoked." error=${_} />
          </div>
          <${D} label="Reason" help="For the journal: why you do this." value=${a} onInput=${i} maxlength="1024" />
          ${d&&!_&&r`<${W} error=${d} />`}
          <p class="row end">
            <button type="button" onClick=${t}>Cancel</button>
            <${F} role="ROLE_ADMIN" type="submit" kind="primary" why=${p}>${$?"Working …":"Create it"}<//>
          </p>
        </form>`}
  <//>`}function ar({binding:e,token:t,onClose:n,onDone:o}){return r`<${ae}
    title=${`Revoke token ${t.id}`}
    verb="Revoke it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>r`<p>Callers with this token of ${e} are refused at once, and its streams end within a second. Permits live
      until they expire.</p>`}
    run=${({reason:s})=>R(G`/v1/tokens/${t.id}:revoke`,{reason:s})}
    done=${()=>`Token ${t.id} is revoked.`}
    onClose=${n}
    onDone=${o}
  />`}function As(){let[e,t]=h({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=h(null),[s,a]=h(null);return r`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),R("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),a(null)),a)}}>
      <${ke} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Vt} />
      <${D} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?r`<p class="lead tone-run">Yes.</p>`:r`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&r`<${W} error=${s} />`}
  </section>`}var Cn=200;function Ns({session:e}){let t=T(m=>x("/v1/bindings",{},m),["bindings"],{keep:!0}),[n,o]=h(null),[s,a]=h("");if(t.error?.code==="PERMISSION_DENIED")return r`<${O} title="Only administrators see who may do what." />`;let i=e?.authenticates===!1?"These servers do not authenticate callers, so bindings would mean nothing.":"",l=(m,p,...f)=>r`<${F} role="ROLE_ADMIN" why=${i} kind=${p} onClick=${()=>o(f)}>${m}<//>`,u={onClose:()=>o(null),onDone:t.refresh},[d,c,$]=n??[];return r`<div class="title"><h2>Who may do what</h2>${l("Create a binding …","primary","edit")}</div>
    <${H} of=${t} what="Reading the bindings">
      ${({bindings:m=[]})=>{let p=m.filter(f=>s.toLowerCase().split(/\s+/).every(_=>JSON.stringify(f).toLowerCase().includes(_)));return r`${(m.length>10||s)&&r`<${D} label="Find" value=${s} onInput=${a} help="Words of names, subjects, grants and tokens." />`}
        <${V}
          caption="Bindings"
          rows=${p.slice(0,Cn)}
          rowKey=${f=>f.name}
          empty=${r`<${O} title=${s?"No binding has these words.":"There are no bindings."} />`}
          note=${p.length>Cn&&`and ${y(p.length-Cn)} more: find them by words`}
          columns=${[["Name",f=>f.name,"name"],["Subjects",f=>r`<ul class="changes">${(f.subjects??[]).map(_=>r`<li>${_}</li>`)}</ul>`,"name"],["May",f=>r`<ul class="changes">${(f.grants??[]).map(_=>r`<li>${wt(_)}</li>`)}</ul>`],["Tokens",f=>r`<ul class="changes">
              ${(f.tokens??[]).map(_=>r`<li class="row">
                <span><code>${_.id}</code>${_.expires_at&&` until ${N(_.expires_at)}`}</span>${l("Revoke …","","revoke",f,_)}
              </li>`)}
            </ul>`],["Changed",f=>`${N(f.updated_at)}${f.updated_by?` by ${f.updated_by}`:""}`],["",f=>r`<span class="row end">
              ${l("Edit …","","edit",f)}${l("Create a token …","","token",f)}${l("Remove …","danger","remove",f)}
            </span>`,"end"]]}
        />`}}
    <//>
    ${d==="edit"&&r`<${nr} binding=${c} ...${u} />`}
    ${d==="remove"&&r`<${or} binding=${c} ...${u} />`}
    ${d==="token"&&r`<${sr} binding=${c.name} ...${u} />`}
    ${d==="revoke"&&r`<${ar} binding=${c.name} token=${$} ...${u} />`}`}function ir(){re("Access");let e=z(De);return r`<${X}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?r`<${Ae} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(wt).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:r`<p>These servers do not authenticate callers: everybody may do everything.</p>`:r`<${ye} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${As} />
        <section class="panel"><h2>Roles</h2>
          <${V} caption="Roles" rows=${xn} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><${Ns} session=${e} /></section>
    </div>`}var Ls=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],Ms=e=>Ls.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function kt({entries:e,semaphore:t,onChange:n}){let o="";return r`<ol class="entries">
    ${e.map(s=>{let a=s.revision!==o;return o=s.revision,r`<li key=${`${s.revision}.${s.ordinal??0}`} class=${a?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${N(s.at)}>${it(s.at)}</time>
          <span class="tag tone-${Jo(s.kind)}">${M(s.kind,"EVENT_KIND_")}</span>
          ${!t&&s.semaphore&&r`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${Vo(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${a&&Go(s)&&r`<${F} role=${Ms(s.kind)} semaphore=${s.semaphore??""} onClick=${()=>rt(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&r`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&r`<${wn} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function lr(){re("Activity");let[e,t]=U(),n=e.get("change")??"";return r`<${X} aside=${n&&r`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?r`<${Fs} change=${n} />`:r`<${Ps} params=${e} change=${t} />`}`}var js=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function Ps({params:e,change:t}){let[n,o]=Ce(e.get("q")??"",g=>t({q:g}),300),[s,a]=Ce(e.get("labels")??"",g=>t({labels:g}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=Ce(l,g=>t({by:g}),300),[c,$]=h(50),m={names:js(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=T(g=>x("/v1/history",{...m,page_size:c},g),["journal",m,c],{every:15e3,keep:!0}),f=Fe(p.refresh,i?500:60);Oe("/v1/watch",m,{message:({events:g=[]})=>g.length&&f(),missed:f,open:g=>g&&f()});let _=(p.data?.entries??[]).filter(g=>!l||(g.author??"").toLowerCase().includes(l.toLowerCase()));return r`<form class="filters" role="search" onSubmit=${g=>g.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${g=>o(g.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${g=>d(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${s} onInput=${g=>a(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${me} label="Also how permits ended" checked=${i} onChange=${g=>t({permits:g?"1":""})} />
    </form>
    <section class="panel">
      <${H} of=${p} what="Reading the journal">
        ${g=>r`
          ${_.length?r`<${kt} entries=${_} onChange=${p.refresh} />`:r`<${O} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${g.next_page_token&&c<1e3&&r`<p class="row"><button type="button" onClick=${()=>$(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function Fs({change:e}){let t=T(n=>x("/v1/history",{change:e,page_size:1e3},n),["change",e]);return r`<section class="panel">
    <${H} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>r`
        ${o&&r`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?r`<${kt} entries=${n} onChange=${t.refresh} />`:r`<${O} title=${`The journal has no change ${e}.`} />`}
        ${s&&r`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&r`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Jt="M4 14V2",cr={idle:[Jt,"M4 4l8-2"],running:[Jt,"M4 3l9 4v-3l-9-2z"],waiting:[Jt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Jt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function Rn({word:e}){let t=cr[e]??cr.idle;return r`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>r`<path d=${n} />`)}
  </svg>`}function Et({value:e,text:t}){let n=Uo(e);return r`<span class="state tone-${n.tone}"><${Rn} word=${n.word} /><span>${t??n.word}</span></span>`}function ur({record:e}){let t=yt(e)[0];return r`<${Et} value=${t?.value} text=${Wo(e)} />`}function Gt({tone:e="idle",children:t}){return r`<span class="tag tone-${e}">${t}</span>`}var qs=()=>T(e=>x("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ye(){let e=qs(),[t,n]=h(null),o=e.data?.cordons??[];if(o.length===0)return null;let s=a=>R("/v1/uncordon",{id:a.id,...be(),...jt()}).then(i=>{we(`Cordon ${a.id} is ended.`,{action:{text:"Undo",run:()=>rt(i.revision,e.refresh)}}),n(null),e.refresh()},n);return r`<section class="cordons" aria-label="Cordons in force">
    <${W} error=${t} />
    <ul>
      ${o.map(a=>r`<li key=${a.id}>
          <span class="state tone-deny"><${Rn} word="cordoned" />cordoned</span>
          <span class="grow">${yn(a)}${a.reason&&`: ${a.reason}`}${a.author&&r`<span class="faint"> by ${a.author}</span>`}</span>
          <${F} role="ROLE_OPERATOR" onClick=${()=>s(a)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function Us({member:e,onClose:t,onDone:n}){let[o,s]=h(null);return r`<${ce} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),R("/v1/leadership:transfer",{id:e.id}).then(l=>{we(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${W} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function Ws({status:e,onChange:t}){let[n,o]=h(null);return r`<section class="panel">
    <h2>Members</h2>
    <${V}
      caption="Members"
      rows=${e.members}
      rowKey=${s=>s.id}
      columns=${[["Server",s=>r`${s.id}${s.id===e.id&&r`<span class="faint"> (answers you)</span>`}`,"name"],["Role",s=>s.leader?r`<strong class="tone-run">leader</strong>`:s.voter?"follower":"non-voter"],["API",s=>s.api_address||"–","name"],["Peers",s=>s.peer_address||"–","name"],["",s=>s.voter&&!s.leader&&r`<${F} role="ROLE_ADMIN" onClick=${()=>o(s)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&r`<${Us} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function Hs({of:e}){return r`<section class="panel">
    <h2>Certificates</h2>
    <${V}
      caption="Certificates of this server"
      rows=${e}
      empty=${r`<${O} title="This server uses no TLS." />`}
      columns=${[["Port",t=>M(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return r`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-Ke();return r`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${N(t.not_after)}, ${n>0?`in ${Y(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var Bs=e=>L(e)<0?`${Te(-L(e))} behind`:`${Te(L(e))} ahead`;function Ks({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:j(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return r`<section class="panel">
    <h2>Clocks</h2>
    <${V}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${r`<${O} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>r`<span class="tone-stop">${Bs(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?r`<${fe} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function zs({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return r`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${Ee} share=${n?t/n:0} label="${Se(t)} of ${Se(n)}" /><span class="num">${Se(t)} of ${Se(n)}</span></p>
    <${V}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${r`<${O} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>r`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>y(o.jobs),"num"],["Waiting",o=>y(o.waiting),"num"],["Running",o=>y(o.held),"num"],["Stored",o=>Se(o.bytes),"num"]]}
    />
  </section>`}function Vs(){let e=T(n=>x("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?Te(L(o)):/bytes/.test(n)?Se(o):y(o);return r`<section class="panel">
    <h2>Settings</h2>
    <${H} of=${e} what="Reading the settings">
      ${n=>r`<${Ae} of=${Object.entries(n.settings??{}).map(([o,s])=>[o,t(o,s)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function dr(){re("Cluster");let e=T(t=>x("/v1/status",{},t),["status"],{every:2e3,keep:!0});return r`<${X}>Cluster<//>
    <${Ye} />
    <${H} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return r`<div class="stack">
          ${!t.leader_id&&r`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&r`<p class="note">Nothing is granted for another ${Y(L(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&r`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&r`<div class="note"><p>${I(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>r`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Ae} of=${[["Cluster",r`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",M(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",r`${t.applied_index}${n>0&&r`<span class="tone-wait"> (${y(n)} behind)</span>`}`],["Definitions",y(t.definitions)],["Permits",y(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?y(t.waiters):"the leader knows"],["Log writes",t.log_writes&&r`<span>${Te(pr(t.log_writes.median))} median, ${Te(pr(t.log_writes.longest))} longest, of ${y(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?r`${t.last_snapshot.taken_at?r`<${fe} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${Se(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&Te(L(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&Y(L(t.uptime))]]} />
          </section>
          <div class="panels">
            <${Ws} status=${t} onChange=${e.refresh} />
            <${Hs} of=${t.certificates} />
            <${Ks} status=${t} />
            <${zs} status=${t} />
          </div>
          <${Vs} />
        </div>`}}
    <//>`}var pr=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var Dn=e=>e.failed?"deny":e.over?"run":M(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",In=e=>{let t=M(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},On=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${y(e[t])} ${t}`).join(", ");function An({job:e}){let t=e.tasks??0,n=`${y(e.done)} of ${I(t,"task","tasks")} done`;return r`<div class="job-progress">
    <${Qo}
      total=${t}
      label="${n}; ${On(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Nn({jobs:e}){return r`<${V}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>r`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>r`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>r`<span class="tag tone-${Dn(t)}">${In(t)}</span>`],["Progress",t=>r`<${An} job=${t} />`],["Failed",t=>t.failed?r`<strong class="tone-deny">${y(t.failed)}</strong>`:"0","num"],["Submitted",t=>r`<span title=${N(t.submitted_at)}><${fe} at=${t.submitted_at} /> ago</span>${t.spec.author&&r`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>Se(t.bytes),"num"]]}
  />`}function mr(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${M(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var Js=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${Y(L(e.expires_in))}`:"";function Ln({data:e}){let t=[...e.workers??[],...e.away??[]];return r`<${V}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${j(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${r`<${O} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>j(n.identity),"name"],["Semaphore",n=>r`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>r`<span class="tag tone-${mr(n)[1]}">${mr(n)[0]}</span>`],["Free",n=>y(n.free),"num"],["Tasks",n=>n.tasks?.length?r`<ul class="held">${n.tasks.slice(0,8).map(o=>r`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${y(o.index)}, for <${fe} at=${o.granted_at} />
                ${o.progress&&r` <${Ee} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${Js(o)}</li>`)}${n.tasks.length>8&&r`<li>and ${y(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Gs=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Qs(){let[e,t]=U(),[n,o]=Ce(e.get("semaphore")??"",c=>t({semaphore:c}),300),[s,a]=Ce(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=h(""),d=T(c=>x("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return r`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${s} onInput=${c=>a(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${ke} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${Gs} />
    </form>
    <section class="panel">
      <${H} of=${d} what="Reading the jobs">
        ${c=>r`
          ${c.jobs?.length?r`<${Nn} jobs=${c.jobs} />`:r`<${O} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&r`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&r`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Ys(){let e=T(t=>x("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return r`<section class="panel"><${H} of=${e} what="Reading the workers">${t=>r`<${Ln} data=${t} />`}<//></section>`}function fr(){re("Jobs");let[e]=U();return r`<${X}>Jobs<//>
    <${lt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?r`<${Ys} />`:r`<${Qs} />`}`}function Qt({title:e,text:t,verb:n,run:o,done:s,onClose:a,onDone:i,reason:l}){let[u,d]=h(""),[c,$]=h(null),[m,p]=h(!1);return r`<${ce} title=${e} onClose=${a}>
    <form onSubmit=${async _=>{if(_.preventDefault(),!m){p(!0);try{we(s(await o(u))),i(),a()}catch(g){$(g),p(!1)}}}}>
      <p>${t}</p>
      ${l&&r`<${D} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${W} error=${c} />
      <p class="row end"><button type="button" onClick=${a}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function Xs({job:e,onChange:t}){let[n,o]=h(""),{id:s,semaphore:a}=e.spec,i=M(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,$)=>r`<${F} role="ROLE_OPERATOR" semaphore=${a} why=${$} onClick=${()=>o(d)}>${c}<//>`;return r`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&r`<${Qt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${I(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>R(G`/v1/jobs/${s}:retry`,{as_of:e.revision})} done=${d=>`${I(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&r`<${Qt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${I(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>R(G`/v1/jobs/${s}:drop`,{as_of:e.revision})} done=${d=>`${I(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&r`<${Qt} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${I(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${I(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>R(G`/v1/jobs/${s}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...be()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&r`<${Qt} ...${l} title=${`Delete ${s}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>je("DELETE",G`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${s} is deleted.`} onDone=${()=>_e("/jobs")} />`}`}var $r={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Zs=[["","any"],...Object.keys($r).map(e=>[e,e])];function ea({job:e,index:t,onClose:n}){let o=T(s=>x(G`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return r`<${ce} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${H} of=${o} what="Reading the task">
      ${s=>{let a=s.tasks?.[0];return a?r`<${Ae} of=${[["State",M(a.state,"TASK_STATE_")],["Attempts",y(a.attempts)],["Worker",a.worker&&j(a.worker)],["Token",a.token],["Returned unfinished",a.returns]]} />
          ${a.failure&&r`<h3>Failure</h3><pre>${a.failure}</pre>`}
          <h3>Payload</h3><pre>${hn(a.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${hn(a.result)||"(none)"}</pre>`:r`<${O} title="There is no such task." />`}}
    <//>
  <//>`}function ta({id:e,round:t}){let[n,o]=U(),s=n.get("task")??"",[a,i]=h(0),[l,u]=h(null),d={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:a,page_size:100},c=T($=>x(G`/v1/jobs/${e}/tasks`,d,$),["tasks",e,d,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${ke} label="In state" value=${s} onChange=${$=>(i(0),o({task:$}))} options=${Zs} /></div>
    <${H} of=${c} what="Reading the tasks">
      ${$=>r`<${V}
          caption="Tasks"
          rows=${$.tasks}
          rowKey=${m=>m.index??0}
          empty=${r`<${O} title="No task is in that state." />`}
          columns=${[["Task",m=>r`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${y(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>r`<span class="tag tone-${$r[M(m.state,"TASK_STATE_")]}">${M(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>y(m.attempts),"num"],["Worker",m=>m.worker?j(m.worker):"–","name"],["Progress",m=>m.progress?r`<${Ee} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${a>0&&r`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${$.next>0&&r`<button type="button" onClick=${()=>i($.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&r`<${ea} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function hr({name:e}){re(e);let t=T(d=>x(G`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=h(0),s=Fe(()=>o(d=>d+1),1e3),[a,i]=h(null),l=()=>{t.refresh(),s(),i(null)},u=t.data?.job;return E(()=>{u&&!u.over&&a===null&&i(u.revision)},[u?.over,a]),Oe(a!==null?G`/v1/jobs/${e}:follow`:null,{after_revision:a},{message(d){d.job&&t.set(()=>({job:d.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?r`<${X}>${e}<//><${O} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?r`<${X} aside=${r`<${Xs} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${Dn(u)}">${In(u)}</span><span>${On(u)}</span></p>
        <${An} job=${u} />
        ${u.cancel_text&&r`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ae} of=${[["Semaphore",r`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${N(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${N(u.ended_at)}, after ${Y(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",ot(u.spec.timeout)],["Kept after its end",ot(u.spec.retention)],["Stored",Se(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${ta} id=${e} round=${n} />
    </div>`:r`<${X}>${e}<//>${t.error&&!t.error.offline?r`<${W} error=${t.error} retry=${t.refresh} />`:r`<${ye} what="Reading the job" />`}`}function gr(){re("Log in");let[e]=U(),[t,n]=h(""),[o,s]=h(null),[a,i]=h(!1),l=e.get("next")??"/";return r`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${X}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await Co(t.trim()),_e(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){s(c),i(!1)}}}>
      <${D}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&r`<${W} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${a||!t.trim()}>${a?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function _r({change:e,effects:t,onEnd:n}){let o=de(()=>t.flatMap(f=>f.stopped??[]),[t]),s=de(()=>Date.now(),[e]),[a,i]=h({});Pe();let l=o.filter(f=>!a[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],d=de(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(_=>({...Object.fromEntries(f),..._})),$=async()=>{let{items:f}=await xe("/v1/holders",{names:d},"permits",void 0,1e5),_=new Map(f.map(g=>[g.token,g]));c(o.filter(g=>!_.has(g.permit.token)).map(g=>[g.permit.token,{how:"gone",after:Date.now()-s}]))};if(Oe(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let _=new Set(o.map(g=>g.permit.token));c(f.filter(g=>g.permit&&_.has(g.permit.token)&&g.ended).map(g=>[g.permit.token,{how:M(g.ended,"PERMIT_END_"),after:Date.now()-s}]))},missed:()=>$().catch(()=>{})}),E(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return r`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-s>L(f.free_within)),p=o.length-l.length;return r`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${I(o.length,"holder has","holders have")} stopped.`:`${y(p)} of ${I(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&r` <strong>${I(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${Ee} share=${p/o.length} tone=${m.length?"stop":"run"} label=${`${p} of ${o.length} stopped`} />
    <${V}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>a[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>r`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>j(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let _=a[f.permit.token];if(_)return r`<span class="tone-run">${_.how} after ${Y(_.after)}</span>`;let g=s+L(f.free_within)-Date.now();return g>0?r`<span class="tone-wait">stops within <span class="num">${at(g)}</span></span>`:r`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}var ct=100,br=(e,t)=>{let n=[];for(let o=Math.floor(e/ct);o<=Math.floor(Math.max(e,t-1)/ct);o++)n.push(o);return n};function vr(e){let t=JSON.stringify(e),n=z(He),[,o]=h(0),s=()=>o(m=>m+1),a=de(()=>({pages:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=K(0),l=K(a);l.current=a;let u=(m,p)=>{if(!p&&(a.pages.has(m)||a.asked.has(m)))return;a.asked.get(m)?.abort();let f=new AbortController;a.asked.set(m,f);let _=performance.now();x("/v1/definitions",{...e,page_size:ct,skip:m*ct},f.signal).then(g=>{l.current===a&&(a.asked.delete(m),a.error=void 0,i.current=performance.now()-_,a.pages.set(m,g.records??[]),a.round++,a.total=g.total??(g.records??[]).length,s())},g=>{f.signal.aborted||l.current!==a||(a.asked.delete(m),a.error=g,s())})},d=(m,p)=>{a.window=[m,p];let f=br(m,p);for(let[_,g]of a.asked)f.includes(_)||(g.abort(),a.asked.delete(_));for(let _ of f)u(_)},c=()=>{let m=br(...a.window);for(let p of a.pages.keys())m.includes(p)||a.pages.delete(p);for(let p of m)u(p,!0)},$=K(c);return $.current=c,E(()=>(u(0),()=>a.asked.forEach(m=>m.abort())),[t]),E(()=>{n&&$.current()},[n]),E(()=>{let m=setInterval(()=>document.hidden||$.current(),_t(i.current));return()=>clearInterval(m)},[t,a.round]),{at:m=>a.pages.get(Math.floor(m/ct))?.[m%ct],total:a.total,error:a.error,want:d,refresh:c,update(m){let p=new Map(m.map(f=>[f.definition.name,f]));for(let f of a.pages.values())f.forEach((_,g)=>{let v=p.get(_.definition.name);v&&(f[g]=v)});s()}}}var yr=8,Yt=4;function wr({total:e,height:t,row:n,range:o,open:s,label:a,head:i,columns:l}){let u=K(null),[d,c]=h([0,30]),[$,m]=h(0),p=K(!1);ft(()=>{let k=0,Q=()=>{k=0;let $e=u.current?.getBoundingClientRect();if(!$e)return;let oe=Math.max(0,Math.floor(-$e.top/t/Yt)*Yt-yr),J=Math.min(e,Math.ceil((innerHeight-$e.top)/t/Yt)*Yt+yr);c(Z=>Z[0]===oe&&Z[1]===J?Z:[oe,Math.max(oe,J)])},ie=()=>k||=requestAnimationFrame(Q);Q(),addEventListener("scroll",ie,{passive:!0}),addEventListener("resize",ie);let le=new ResizeObserver(ie);return le.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",ie),removeEventListener("resize",ie),le.disconnect()}},[e,t]),E(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),ft(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${$}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min($,Math.max(0,e-1)),_=k=>{if(e===0)return;p.current=!0,m(Math.max(0,Math.min(e-1,k)));let Q=u.current.getBoundingClientRect().top+scrollY+k*t;(Q<scrollY||Q>scrollY+innerHeight)&&scrollTo(0,Math.max(0,Q-innerHeight/2))},g=Math.max(1,Math.floor(innerHeight/t)-4),v={ArrowDown:()=>_(f+1),ArrowUp:()=>_(f-1),PageDown:()=>_(f+g),PageUp:()=>_(f-g),Home:()=>_(0),End:()=>_(e-1),Enter:()=>s?.(f)},w=k=>{!v[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),v[k.key]())},S=k=>{let Q=k.target.closest("[data-row]");Q&&m(Number(Q.dataset.row))};E(()=>{let k=()=>_(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let A=[];for(let k=d[0];k<Math.min(d[1],e);k++)A.push(k);return e>0&&(f<d[0]||f>=d[1])&&A.push(f),r`<div class="grid" role="grid" aria-label=${a} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${w} onFocusIn=${S}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${A.map(k=>r`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Fn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Mn=e=>e.value.slice(17).toLowerCase();function na({counts:e,total:t}){let[n,o]=U(),s=n.getAll("state"),a=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return r`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":y(t)}</span><span class="stat-w">all</span>
    </button>
    ${Ht.map(i=>{let l=e?.get(i.value);return r`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(Mn(i))}
        title=${i.help}
        onClick=${()=>a(Mn(i))}
      >
        <span class="stat-n num">${e?y(l):"–"}</span><span class="stat-w"><${Et} value=${i.value} text=${Mn(i)} /></span>
      </button>`})}
  </div>`}var oa=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function ra({labels:e}){let[t,n]=U(),o=t.get("labels")??"",[s,a]=Ce(o,c=>n({labels:c}),400),[i,l]=h(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${oa(c)}`].filter(Boolean).join(",")}),l(""))};return r`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${c=>a(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&r`<${ke} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&r`<${ke} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${y(c.count)})`])]} />`}`}`}function sa({summary:e,shown:t}){let[n,o]=U(),[s,a]=Ce(n.get("q")??"",p=>o({q:p})),[i,l]=Ce(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=T(p=>xe("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),$=Wt("(min-width: 60rem)");return r`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${s} placeholder="Words of name, description or label" onInput=${p=>a(p.target.value)} onKeyDown=${p=>{p.key!=="ArrowDown"&&p.key!=="Enter"||(p.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${$||u.some(p=>p==="group"||p==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${p=>l(p.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(p=>r`<option value=${p} />`)}</datalist>
        </div>
        <${ra} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&r`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var jn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],Pn=class extends st{shouldComponentUpdate(t){let{record:n,permits:o,live:s}=this.props;return t.record!==n||t.permits!==o||t.live?.waiters!==s?.waiters}render({record:t,permits:n,live:o}){return r`<${aa} record=${t} permits=${n} live=${o} />`}};function aa({record:e,permits:t,live:n}){if(!e)return r`<span class="row-loading" role="gridcell" aria-colspan=${jn.length}>Reading …</span>`;let o=e.definition,s=t?.[0],a=(e.holders??0)-1,i=Bt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),d=o.permits??0,c=n?.waiters??e.waiters??0;return r`
    <span class="c-state" role="gridcell"><${ur} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${Ee} share=${d?u/d:u?1:0} tone=${u>d?"deny":"accent"} label="${u} of ${d} permits in use" />
      <span>${y(u)}<span class="faint"> / ${y(d)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${s?r`<span class="clip">${j(s.identity)}</span><span class="sub">for <${fe} at=${s.granted_at} />${a>0&&` and ${y(a)} more`}</span>`:a>=0?r`<span class="sub">${I(a+1,"holder","holders")}</span>`:r`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${s?r`<${Kt} at=${s.deadline} of=${L(s.duration)} />`:r`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?r`<span class="tag tone-wait">${y(c)}</span>`:r`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var ia=6e3;function kr(){re("Overview");let[e]=U(),t=Fn(e),n=vr(t),o=Wt("(max-width: 47.99rem)"),s=Wt("(max-width: 63.99rem)"),a=o?104:s?76:52,{search:i,group:l,labels:u}=t,[d,c]=h(1e4),$=T(async C=>{let P=performance.now(),q=await x("/v1/definitions:summarize",{search:i,group:l,labels:u},C);return c(_t(performance.now()-P)),q},["summary",i,l,u],{every:d,keep:!0}),m=de(()=>$.data&&new Map(($.data.states??[]).map(C=>[C.state,C.count])),[$.data]),[p,f]=h(new Map),[_,g]=h(new Map),[v,w]=h([]),S=K(new Set),[A,k]=h(5e3),Q=K([0,0]),ie=Fe(()=>{let[C,P]=Q.current,q=[],se=0;for(let he=C;he<P&&se<ia;he++){let pe=n.at(he)?.definition.name;pe&&(q.push(pe),se+=pe.length+8)}w(he=>he.join(`
`)===q.join(`
`)?he:q)},150),le=(C,P)=>{Q.current=[C,P],n.want(C,P),ie()};E(ie);let $e=async(C,P)=>{let q=Date.now(),{items:se}=await xe("/v1/holders",{names:C},"permits",P),he=new Map(C.map(pe=>[pe,[]]));for(let pe of se)he.get(pe.semaphore)?.push({...pe,deadline:pe.expires_in?q+L(pe.expires_in):0});f(pe=>new Map([...pe,...he]))},oe=Fe(async()=>{let C=[...S.current];if(S.current.clear(),C.length===0)return;let P=performance.now(),[q]=await Promise.all([x("/v1/definitions",{names:C,page_size:1e3}),$e(C)]).catch(()=>[]);if(!q)return;n.update(q.records??[]);let se=performance.now()-P;k(se<20?5e3:_t(se))},40);E(()=>{if(v.length===0)return;let C=new AbortController;return $e(v,C.signal).catch(()=>{}),()=>C.abort()},[v]);let J=()=>{v.forEach(C=>S.current.add(C)),oe()};E(()=>{let C=setInterval(()=>document.hidden||J(),A);return()=>clearInterval(C)},[v,A]),Oe(v.length?"/v1/watch":null,{names:v,permits:!0,live_every:"1s"},{open:C=>C&&J(),missed:J,message({events:C=[]}){for(let P of C)P.semaphore&&S.current.add(P.semaphore);oe()},live(C){let P=(C.live??C).semaphores??[],q=Date.now();g(new Map(P.map(se=>[se.semaphore,se]))),f(se=>{let he=new Map(se);for(let pe of P){let Kn=new Map((pe.deadlines??[]).map(Xe=>[Xe.token,q+L(Xe.expires_in)])),zn=he.get(pe.semaphore);zn&&he.set(pe.semaphore,zn.map(Xe=>Kn.has(Xe.token)?{...Xe,deadline:Kn.get(Xe.token)}:Xe))}return he})}});let Z=C=>{let P=n.at(C);P&&_e(`/s/${encodeURIComponent(P.definition.name)}`)},b=n.total,ue=b===void 0?"…":I(b,"semaphore","semaphores"),ee=de(()=>r`<${X} aside=${r`<${la} />`}>Overview<//>
      <${Ye} />
      <${na} counts=${m} total=${$.data&&($.data.total??0)} />
      <${sa} summary=${$.data} shown=${ue} />`,[m,$.data,ue]);return r`${ee}
    ${n.error&&!n.error.offline&&r`<${W} error=${n.error} retry=${n.refresh} />`}
    ${b===void 0?!n.error&&r`<${ye} what="Reading the semaphores" />`:b===0?r`<${ca} filtered=${[...e].length>0} />`:r`<${wr}
            label="Semaphores"
            total=${b}
            height=${a}
            columns=${jn.length}
            range=${le}
            open=${Z}
            head=${jn.map(C=>r`<span role="columnheader">${C}</span>`)}
            row=${C=>{let P=n.at(C),q=P?.definition.name;return r`<${Pn} record=${P} permits=${p.get(q)} live=${_.get(q)} />`}}
          />`}`}function la(){let[e,t]=h(!1),[n,o]=h("");return r`<${F} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&r`<${ce} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${a=>{a.preventDefault(),n.trim()&&_e(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${D} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function ca({filtered:e}){return e?r`<${O} title="No semaphore matches.">Remove a filter to see more.<//>`:r`<${O} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var ua=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],Er=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function Tr(){let[e,t]=U(),[n,o]=h(e.getAll("names").join(`
`)),[s,a]=h(e.get("labels")??""),[i,l]=h(e.get("all")==="1"),[u,d]=h(null),c=Fn(e),$=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);E(()=>{$&&xe("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:f})=>{o(p.map(_=>_.definition.name).join(`
`)),a(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{...Er(n).length&&{names:Er(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:a,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||s.trim()!==""}}function Sr({of:e,optional:t}){let n=T(e.given?a=>x("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},a):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return r`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${D} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${D} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${me} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&r`<${W} error=${e.error} />`}
    ${n.error&&!n.error.offline&&r`<${W} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${I(s,"semaphore","semaphores")} chosen${o.length?`: ${ze(o.map(a=>a.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function qn({of:e,onAgain:t}){return r`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${_r} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${F} role=${e.role} onClick=${()=>rt(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function Un(){let[e,t]=h(null);return[e,(o,s)=>(a,i)=>{let l=a.change??a.revision??a.cordon?.revision;l&&l!=="0"&&t({text:o,role:s,change:l,effects:a.effects?.length?a.effects:i.effects??[]})},()=>t(null)]}function Cr({id:e}){let t=T(o=>xe("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return r`<datalist id=${e}>${n.map(o=>r`<option value=${o} />`)}</datalist>`}function pa({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return r`
    <p class="lead">${e.moves?.length?`${I(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&r`<span class="faint"> ${y(n)} need no move.</span>`}</p>
    ${e.mistake&&r`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&r`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>r`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&r`<div class="warnings"><p>${I(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>r`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function da(){let e=Tr(),[t]=U(),[n,o]=h({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,a]=h(!1),[i,l,u]=Un(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Le(n.drain),...be()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":Me(()=>Le(n.drain));return i?r`<${qn} of=${i} onAgain=${u} />`:r`<form class="stack" onSubmit=${$=>($.preventDefault(),c||a(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${D} label="From group" value=${n.from} onInput=${$=>o({...n,from:$})} list="move-groups" required />
        <${D} label="To group" value=${n.to} onInput=${$=>o({...n,to:$})} list="move-groups" required />
        <${Qe} value=${n} set=${o} />
        <${Cr} id="move-groups" />
      </div>
    </fieldset>
    <${Sr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${F} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${s&&r`<${ae}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${$=>`Move ${I($.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async $=>R("/v1/move",{...d(),dry_run:!0},$)}
      extra=${$=>r`<${pa} of=${$} />`}
      nothing=${$=>$.moves?.length?"":$.mistake||"There is nothing to move."}
      run=${async($,m)=>R("/v1/move",{...d(),expected:m.digest,...$})}
      done=${$=>`${I($.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function xr({resume:e}){let t=Tr(),[n,o]=h({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,a]=h(!1),[i,l,u]=Un(),d=()=>e?{selector:t.selector}:{selector:t.selector,...Ne(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Le(n.drain)}},c=t.given?Me(()=>(Ne(n),Le(n.drain))):"Choose some semaphores first.";if(i)return r`<${qn} of=${i} onAgain=${u} />`;let $=e?"resume":"pause";return r`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||a(!0))}>
    <${Sr} of=${t} />
    ${!e&&r`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${qe} value=${n} set=${o} without="Empty: until it is resumed." />
        <${me} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&r`<${Qe} value=${n} set=${o} />`}
        <${me} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${F} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&r`<${ae}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>R("/v1/preview",{[$]:d()},m)}
      run=${async(m,p)=>R(`/v1/${$}`,{...d(),expected:p.digest,...m})}
      done=${m=>`${I(m.names?.length??0,"semaphore","semaphores")} ${$}d.`}
      onDone=${(m,p)=>l(`${I(m.names?.length??0,"semaphore","semaphores")} ${$}d`,"ROLE_OPERATOR")(m,p)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function ma(){let[e]=U(),[t,n]=h({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=h(!1),[a,i,l]=Un(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Ne(t),...Le(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":Me(()=>u());return a?r`<${qn} of=${a} onAgain=${l} />`:r`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${D} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${D} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${qe} value=${t} set=${n} without="Empty: until it is ended." />
        <${Qe} value=${t} set=${n} />
        <${Cr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${F} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&r`<${ae}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>R("/v1/preview",{cordon:u()},c)}
      run=${async c=>R("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,$)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,$)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function Rr(){re("Move and pause");let[e]=U(),t=e.get("do")??"move";return r`<${X}>Move and pause<//>
    <${Ye} />
    <${lt} of=${ua} query="do" label="What to do" />
    ${t==="pause"?r`<${xr} key="pause" />`:t==="resume"?r`<${xr} key="resume" resume />`:t==="cordon"?r`<${ma} />`:t==="move"?r`<${da} />`:r`<${O} title="There is no such form." />`}`}var Dr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:ze(e.names??[]),Ir=e=>e.names?.length===1?e.names[0]:"";function Or({selector:e,onClose:t,onDone:n}){let[o,s]=h({lasts:"",until:"",stop:!1,drain:""}),a=()=>({selector:e,...Ne(o),...o.stop?{stop:!0,...Le(o.drain)}:{}});return r`<${ae}
    title=${`Pause ${Dr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${Ir(e)}
    deps=${o}
    preview=${async i=>R("/v1/preview",{pause:a()},i)}
    run=${async(i,l)=>R("/v1/pause",{...a(),expected:l.digest,...i})}
    done=${i=>`${I(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${qe} value=${o} set=${s} without="Empty: until it is resumed." />
      <${me} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&r`<${Qe} value=${o} set=${s} />`}
    </div>
  <//>`}function Ar({selector:e,onClose:t,onDone:n}){return r`<${ae}
    title=${`Resume ${Dr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${Ir(e)}
    preview=${async o=>R("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>R("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${I(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function Nr({name:e}){let[t,n]=U(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[s,a]=h(o),l=T(m=>x("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=T(o.acquirer?m=>R(G`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(s),d.refresh()},$=m=>p=>a({...s,[m]:p});return r`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${D} label="Group" value=${s.group} onInput=${$("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${D} label="Acquirer" value=${s.acquirer} onInput=${$("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${D} label="Weight" type="number" min="1" value=${s.weight} onInput=${$("weight")} placeholder="1" />
      <${me} label="It is a worker" checked=${s.worker==="1"} onChange=${m=>$("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>r`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>r`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&r`<${W} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&r`<${ye} what="Asking" />`}
    ${d.data&&r`<${fa} of=${d.data} />`}
  </section>`}function fa({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return r`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${M(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&r`<p class="note">Nothing is granted for another ${Math.ceil(L(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>r`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&r`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>r`${o?", ":""}${j(n.identity)} for <${fe} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${y(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&r`<p>${I(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&r`<p>${e.why_tasks_wait}</p>`}
  </div>`}var $a={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function ha(e,t){let n="",o,s=[];do o=await x("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function Lr({name:e,events:t}){let n=T(u=>ha(e,u),["firings",e,t],{keep:!0}),[o,s]=h(null),[a,i]=h(100),l=o&&{semaphore:e,firings:[o.firing],...be()};return r`<section class="panel">
    <h2>Firings</h2>
    <${H} of=${n} what="Reading the firings">
      ${u=>r`
        <p class="faint">${y(u.count)} remembered, at most ${y(u.limit)}.${u.forgotten_up_to&&` Those due until ${N(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${V}
          caption="Firings"
          rows=${u.firings.slice(0,a)}
          rowKey=${d=>Je(d.firing)}
          empty=${r`<${O} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>Je(d.firing),"name"],["State",d=>r`<span class="tag tone-${$a[M(d.state,"FIRING_STATE_")]??"idle"}">${M(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?j(d.winner):"–","name"],["Claimed at",d=>N(d.claimed_at)||"–","num"],["Attempts",d=>y(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>r`<${F} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>s(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>a&&r`<button type="button" onClick=${()=>i(a*5)}>Show more</button>`}`}
    <//>
    ${o&&r`<${ae}
      title=${`Forget ${Je(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>R("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>R("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${Je(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function Mr({name:e,events:t,onChange:n}){let[o,s]=U(),a=o.get("permits")==="1",[i,l]=h(50),u=T(d=>x("/v1/history",{names:[e],permits:a,page_size:i},d),["history",e,a,i,t],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>History</h2>
      <${me} label="Also how permits ended" checked=${a} onChange=${d=>s({permits:d?"1":""})} />
    </div>
    <${H} of=${u} what="Reading the journal">
      ${d=>r`
        ${d.entries?.length?r`<${kt} entries=${d.entries} semaphore=${e} onChange=${n} />`:r`<${O} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&r`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Wn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Hn=4,jr=12,ga={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function Pr({name:e,permits:t,events:n}){let[o,s]=U(),a=Wn.find(([u])=>u===o.get("span"))??Wn[0];Pe();let i=Date.now()-a[1],l=T(u=>x("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-a[1]).toISOString(),page_size:1e3},u),["timeline",e,a[0],n],{keep:!0});return r`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Wn.map(([u])=>r`<button type="button" key=${u} aria-pressed=${u===a[0]} onClick=${()=>s({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${H} of=${l} what="Reading the journal">
      ${u=>r`<${_a} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function _a({entries:e,permits:t,from:n,to:o,more:s}){let a=[...t.map(c=>({who:j(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let $=M(c.permit.ended,"PERMIT_END_")||M(c.kind,"EVENT_KIND_");return{who:j(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:$,tone:ga[$]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of a)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return r`<${O} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return r`<div class="timeline">
    ${[...l].slice(0,jr).map(([c,$])=>{let m=$[0],p=`${c}: ${I($.length,"permit","permits")}, the last from ${N(m.from)}, ${m.how}`;return r`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${$.map(f=>r`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${N(f.from)}, ${f.how} after ${Y(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>r`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${M(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${N(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Hn+1},(c,$)=>r`<span key=${$}>${$===Hn?"now":it(n+(o-n)*$/Hn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>jr||s)&&r`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function ba({permit:e,onClose:t,onDone:n}){let[o,s]=h({reason:"",drain:"",unsafe:!1}),[a,i]=h(null),[l,u]=h(!1);return r`<${ce} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let $={reason:o.reason,...be()};o.drain.trim()&&($.drain=Ie(o.drain)),o.unsafe&&($.unsafe_now=!0),await R(G`/v1/permits/${e.token}:revoke`,$),we(`The permit of ${j(e.identity)} is revoked.`),n(),t()}catch($){i($),u(!1)}}}}>
      <p>${j(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${D} label="Reason" value=${o.reason} onInput=${c=>s({...o,reason:c})} maxlength="1024" />
      <${D} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>s({...o,drain:c})} error=${Me(()=>Ie(o.drain))} help="How long it may continue. Empty: not at all." />
      <${me} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>s({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${W} error=${a} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function va({permit:e,onClose:t,onDone:n}){let[o,s]=h(""),[a,i]=h(null);return r`<${ce} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),R(G`/v1/permits/${e.token}:clear`,{reason:o,...be()}).then(()=>{we("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${j(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${D} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${W} error=${a} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var ya=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function wa({permits:e,onChange:t}){let[n,o]=h(null),s=()=>o(null);return r`<section class="panel">
    <h2>Holders</h2>
    <${V}
      caption="Holders"
      rows=${e}
      rowKey=${a=>a.token}
      empty=${r`<${O} title="Nobody holds a permit." />`}
      columns=${[["Holder",a=>r`${j(a.identity)}${a.identity?.holder_id&&r`<div class="sub">${a.identity.holder_id}</div>`}`,"name"],["State",a=>r`<span class="tone-${Bo(a)}">${Ho(a)}</span>`],["Since",a=>r`<${fe} at=${a.granted_at} />`,"num"],["Time left",a=>r`<${Kt} at=${a.deadline} of=${L(a.duration)} />`,"num"],["Weight",a=>y(a.weight),"num"],["Token",a=>a.token,"num"],["For",a=>[Je(a.firing),ya(a.metadata)].filter(Boolean).join("; ")||"–"],["",a=>a.state==="PERMIT_STATE_HELD"?r`<${F} role="ROLE_OPERATOR" semaphore=${a.semaphore} onClick=${()=>o({clear:a})}>Clear …<//>`:a.state==="PERMIT_STATE_COOLING"?null:r`<${F} role="ROLE_OPERATOR" semaphore=${a.semaphore} group=${a.identity?.group} acquirer=${a.identity?.acquirer} onClick=${()=>o({revoke:a})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&r`<${ba} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&r`<${va} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function ka({data:e}){let t=n=>new Date(e.at-L(n.waiting)).toISOString();return r`<section class="panel">
    <h2>Queue</h2>
    <${V}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${r`<${O} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>j(n.identity),"name"],["Weight",n=>y(n.weight),"num"],["Waiting for",n=>r`<${fe} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>r`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${y(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var Ea=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function xa({rows:e,caption:t}){return r`<${V}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${j(n.identity)}`}
    columns=${[["Caller",n=>j(n.identity),"name"],["Why",n=>r`${n.message}<div class="sub">${M(n.reason,"REASON_")}${n.let_in&&`; ${j(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>y(n.count),"num"],["Last",n=>r`<span title=${N(n.last)}><${fe} at=${n.last} /> ago</span>`,"num"],["",n=>r`<a href=${n.semaphore?Ea(n):void 0}>Explain</a>`,"end"]]}
  />`}function Ta({name:e,events:t}){let n=T(o=>x("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return r`<section class="panel">
    <h2>Denied</h2>
    <${H} of=${n} what="Reading who was denied">
      ${o=>r`
        ${o.callers?.length?r`<${xa} rows=${o.callers} caption="Callers that were denied" />`:r`<${O} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${N(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&r`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(s=>r`<li>${j(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function Fr({name:e,of:t}){return r`<div class="stack">
    <${H} of=${t.holders} what="Reading who holds it">${n=>r`<${wa} permits=${n} onChange=${t.read} />`}<//>
    <${Pr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${H} of=${t.waiters} what="Reading the queue">${n=>r`<${ka} data=${n} />`}<//>
      <${Ta} name=${e} events=${t.events} />
    </div>
  </div>`}function Xt(e={}){let t={};for(let n of ve){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=ot(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Ve(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function qr(e,t={}){let n={...t},o={};for(let s of ve){let a=e[s.name]??"";try{let i=Sa(s,a);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function Sa(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),a=(s<0?o:o.slice(0,s)).trim();if(!a)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,a))throw new Error(`The key ${a} stands here twice.`);Object.defineProperty(n,a,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return Ie(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function Ur(e,t,n){let o={},s=[],a=[];for(let i of ve){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(s.push(i.name),o[i.name]=d),(u!==l||d!==l)&&a.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:s,rows:a}}function Wr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:a,rows:i}=e,[l,u]=h({}),d=a.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let p of i)l[p.field.name]&&(m[p.field.name]=p[l[p.field.name]]);n(m)},$=m=>{let p=m.field.name;if(!a.includes(p))return m.mine===m.theirs?r`<${Gt}>the same<//>`:m.mine!==m.base?r`<${Gt} tone="accent">yours<//>`:r`<${Gt} tone="wait">theirs<//>`;let f=(_,g)=>r`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===_} onChange=${()=>u({...l,[p]:_})} /> ${g}
    </label>`;return r`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return r`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved version ${s.version} at ${N(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${V}
      caption="Fields that differ"
      rows=${i}
      rowKey=${m=>m.field.name}
      columns=${[["Field",m=>m.field.label],["When you began",m=>r`<code>${m.base||"(none)"}</code>`],["Yours",m=>m.mine===m.base?r`<span class="faint">unchanged</span>`:r`<ins>${m.mine||"(none)"}</ins>`],["Theirs",m=>m.theirs===m.base?r`<span class="faint">unchanged</span>`:r`<ins class="theirs">${m.theirs||"(none)"}</ins>`],["Keep",$]]}
    />
    <p class="row end">
      <span class="grow" role="status">${d.length?`Choose for ${d.length===1?"1 field":`${d.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${d.length?"true":void 0} onClick=${()=>d.length||c()}>Review the result …</button>
    </p>
  </section>`}var Bn=60;function Hr({name:e,group:t,acquirer:n}){let[o,s]=h({group:t,acquirer:n});E(()=>{let p=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let a=T(p=>xe("/v1/known",{},"callers",p,1e3),["known"]),i=T(o.group&&o.acquirer?async p=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await R("/v1/preview",{edits:{edits:[{create:f}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=a.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",$=d.size>=u,m=[...l].sort((p,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${p.acquirer} in ${p.group}`));return r`<div class="pattern-test full" aria-live="polite">
    ${c?r`<p class="error">${c}</p>`:l.length===0?r`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:r`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?y(u):"none"} of ${I(l.length,"known caller","known callers")}${a.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,Bn).map(p=>{let f=`${p.acquirer} in ${p.group}`,_=d.has(f);return!_&&!$?null:r`<li key=${f} class=${_?"in":"out"}><span aria-hidden="true">${_?"✓":"✗"}</span><span class="sr-only">${_?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Bn&&r`<li class="out">and ${y(l.length-Bn)} more</li>`}</ul>`}
  </div>`}var Br={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Kr({name:e,record:t,onSaved:n}){let[o,s]=U();if(o.get("edit")==="1"||!t)return r`<${Ca} name=${e} record=${t} onSaved=${n} onDone=${()=>s({edit:""})} />`;let i=t.definition;return r`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${F} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ae} of=${ve.map(l=>[l.label,Ve(l,i)&&(l.kind==="pattern"?r`<code>${Ve(l,i)}</code>`:Ve(l,i))])} />
    <p class="faint">Version ${t.version}, ${N(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var Zt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function Ca({name:e,record:t,onSaved:n,onDone:o}){let[s,a]=h(t),[i,l]=h(()=>Xt(t?.definition??Br)),[u,d]=h({}),[c,$]=h(!1),[m,p]=h(null),[f,_]=h({}),g=de(()=>Xt(s?.definition??Br),[s]),{definition:v,errors:w}=qr(i,s?.definition??{name:e}),S=!s||ve.some(b=>i[b.name]!==g[b.name]),A=Object.keys(w).length>0,k=t&&s&&t.version!==s.version?t:null;E(()=>{if(!S||!s)return;let b=ue=>ue.preventDefault();return addEventListener("beforeunload",b),()=>removeEventListener("beforeunload",b)},[S]);let Q=b=>ue=>{l(ee=>({...ee,[b]:ue})),_(ee=>({...ee,[b]:void 0}))},ie=s?{replace:v,expected_version:s.version}:{create:{...v,name:e}},le=()=>({edits:[ie],...Le(u.drain),...s?Ne(u):{}}),$e=b=>p({theirs:b,...Ur(g,i,Xt(b.definition))}),oe=b=>{if(b.reason==="STALE_VERSION")return x(G`/v1/definitions/${e}`).then(ee=>$e(ee.record),ee=>we(ee.message,{tone:"deny"})),!0;let ue=b.fields?.filter(ee=>ve.some(C=>ee.field.endsWith(C.name)))??[];return ue.length===0?!1:(_(Object.fromEntries(ue.map(ee=>[ve.find(C=>ee.field.endsWith(C.name)).name,ee.rule]))),!0)},J=b=>{let ue=w[b.name]??f[b.name],ee=i[b.name],C={key:b.name,label:b.label,help:b.help,error:ue,class:ee!==g[b.name]?"changed":""};if(b.kind==="flag")return r`<${me} ...${C} checked=${ee==="yes"} onChange=${q=>Q(b.name)(q?"yes":"no")} />`;if(b.kind==="choice")return r`<${ke} ...${C} value=${ee} onChange=${Q(b.name)} options=${b.values.map(q=>[q.toLowerCase(),q.toLowerCase()])} />`;let P=b.kind==="labels"?3:b.name==="description"?2:void 0;return r`<${D} ...${C} value=${ee} onInput=${Q(b.name)} area=${P} name=${b.name} inputmode=${b.kind==="number"?"numeric":void 0} />`},Z=b=>{b.preventDefault(),!A&&S&&$(!0)};return m?r`<${Wr}
      of=${m}
      base=${s}
      onCancel=${()=>p(null)}
      onMerged=${b=>{a(m.theirs),l(b),p(null),$(!0)}}
    />`:r`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&r`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${N(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>$e(k)}>Compare and merge</button></p>`}
    <form onSubmit=${Z}>
      <div class="form">
        ${ve.filter(b=>!Zt.includes(b.name)&&b.kind!=="pattern"&&["description","labels"].includes(b.name)).map(J)}
        ${ve.filter(b=>b.kind==="pattern").map(J)}
        <${Hr} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${ve.filter(b=>!Zt.includes(b.name)&&b.kind!=="pattern"&&!["description","labels"].includes(b.name)).map(J)}
      </div>
      <details open=${Zt.some(b=>i[b]!==g[b]||w[b])}>
        <summary>Firings</summary>
        <div class="form">${ve.filter(b=>Zt.includes(b.name)).map(J)}</div>
      </details>
      <p class="row end sticky-end">
        ${S&&r`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&r`<button type="button" onClick=${o}>${S?"Discard":"Back"}</button>`}
        <${F} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${A?"A field has a mistake.":S?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&r`<${ae}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async b=>R("/v1/preview",{edits:le()},b)}
      run=${async b=>R("/v1/definitions:edit",{...le(),...b})}
      done=${b=>`${e} is ${s?"saved":"created"}, as change ${b.revision}.`}
      onError=${oe}
      onClose=${()=>$(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&r`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${qe} value=${u} set=${d} without="Then the old values come back. Empty: for good." /><${Qe} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function zr({name:e,events:t}){let n=T(s=>x("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=T(s=>x("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return r`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${H} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?r`<${Nn} jobs=${s.jobs} />`:r`<${O} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${H} of=${o} what="Reading the workers">${s=>r`<${Ln} data=${s} />`}<//>
    </section>
  </div>`}var Ra=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],Da=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+L(n.expires_in):0}));function Ia(e){let t=T(d=>x(G`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=T(async d=>{let c=Date.now();return Da((await xe("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=T(async d=>({at:Date.now(),...await x("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[s,a]=h(null),[i,l]=h(0),u=Fe(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40);return Oe("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=((d.live??d).semaphores??[]).find(p=>p.semaphore===e),$=Date.now(),m=new Map((c?.deadlines??[]).map(p=>[p.token,$+L(p.expires_in)]));n.set(p=>p?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),s&&(c?.waiters??0)!==s.waiters&&o.refresh(),a({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:u}}function Oa({record:e,onChange:t}){let[n,o]=h(""),s=e.definition.name,a=()=>o("");return r`
    ${e.pause?r`<${F} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:r`<${F} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${F} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&r`<${Or} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="resume"&&r`<${Ar} selector=${{names:[s]}} onClose=${a} onDone=${t} />`}
    ${n==="delete"&&r`<${ae}
      title=${`Delete ${s}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>R("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>R("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} is deleted.`}
      onDone=${()=>_e("/")}
      onClose=${a}
    />`}`}function Aa({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return r`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${y(o)}<span class="faint"> / ${y(s)}</span></dd>
      <dd><${Ee} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${y(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${y(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Vr({name:e}){re(e);let t=Ia(e),[n]=U(),o=n.get("tab")??"now",s=t.record.data?.record,a=t.record.error?.code==="NOT_FOUND",i=a&&!s;return r`
    <${X} aside=${s&&r`<${Oa} record=${s} onChange=${t.read} />`}>${e}<//>
    <${Ye} />
    ${a&&r`<p class="note">There is no definition of this name${s?" any more":""}. Its history and firings may still be known.</p>`}
    ${s&&!a&&r`<div class="standing">
      <p class="row">${yt(s).map(l=>r`<${Et} key=${l.value} value=${l.value} />`)}</p>
      ${Bt(s).map(l=>r`<p class="note">${l}</p>`)}
      <${Aa} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!a&&!t.record.error.offline&&r`<${W} error=${t.record.error} retry=${t.record.refresh} />`}
    <${lt} of=${Ra} label="Parts of this semaphore" />
    ${!s&&!a?!t.record.error&&r`<${ye} what="Reading the semaphore" />`:o==="rule"?r`<${Kr} key=${e} name=${e} record=${a?null:s} onSaved=${t.read} />`:o==="history"?r`<${Mr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?r`<${Lr} name=${e} events=${t.events} />`:o==="explain"?r`<${Nr} name=${e} />`:i?r`<${O} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?r`<${zr} name=${e} events=${t.events} />`:r`<${Fr} name=${e} of=${t} />`}`}var Na=[[/^\/$/,kr],[/^\/s\/(.+)$/,Vr],[/^\/move$/,Rr],[/^\/activity$/,lr],[/^\/jobs$/,fr],[/^\/jobs\/(.+)$/,hr],[/^\/cluster$/,dr],[/^\/access$/,ir]];function La(){return re("No such page"),r`<${X}>No such page<//><${O} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function Ma(){let e=z(nt).split("?")[0],t=z(He),[n,o]=h(!1),s=z(De);if(E(()=>{e!=="/login"&&!De.get()&&$n().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return r`<${zt} bare><${gr} /><//>`;if(!s&&!n)return r`<${zt} bare><${ye} what="Asking who you are" /><//>`;let[a,i]=ko(e,Na)??[La,[]];return r`<${zt}><${a} key=${e} name=${i[0]} /><//>`}so(r`<${Ma} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
